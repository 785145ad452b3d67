-- The commonest tasks, agents, models and services, at most $limit of each; an empty name for runs that have none.
with named as (
    select 'tasks' as field, coalesce(task, '') as choice from run_rows
    union all
    select 'agents', coalesce(agent, '') from run_rows
    union all
    select 'services', coalesce(service, '') from run_rows
    union all
    select 'models', unnest(models) from run_totals
)
select field, choice, count(*) as runs
from named
group by field, choice
qualify row_number() over (partition by field order by count(*) desc, choice) <= $limit
order by field, runs desc, choice;
