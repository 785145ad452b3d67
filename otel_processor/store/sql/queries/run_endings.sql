-- What runs can be searched by: the stop reasons there are, and the patterns of the alerts, the commonest first, at most $limit of each.
with named as (
    select 'reason' as field, stop_reason as choice from run_rows
    union all
    select 'pattern', pattern from alerts
)
select field, choice, count(*) as runs
from named
group by field, choice
qualify row_number() over (partition by field order by count(*) desc, choice) <= $limit
order by field, runs desc, choice;
