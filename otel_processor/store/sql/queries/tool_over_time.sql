-- How the calls of one tool came out in each stretch of time, in the chosen runs. Stretches are hours over up to three days, days over
-- up to a quarter, else weeks, in the viewer's zone; where there are more than 160 stretches the last ones are taken.
with chosen as (
    select ended_at, is_error or error_class is not null as has_failed, progress
    from calls
    where kind = 'tool' and coalesce(tool, '') = $tool and ended_at is not null
        and run_id in (select run_id from chosen_runs)
),
spanned as (
    select
        case
            when max(ended_at) - min(ended_at) <= interval 2 hours then 'minute'
            when max(ended_at) - min(ended_at) <= interval 72 hours then 'hour'
            when max(ended_at) - min(ended_at) <= interval 92 days then 'day'
            else 'week'
        end as unit
    from chosen
)
select
    unit,
    date_trunc(unit, timezone($zone, ended_at)) as stretch,
    count(*) as calls,
    count(*) filter (has_failed) as failed_calls,
    count(*) filter (not has_failed and progress) as new_calls,
    count(*) filter (not has_failed and not progress) as stale_calls,
    count(*) filter (not has_failed and progress is null) as unknown_calls
from chosen
cross join spanned
group by unit, stretch
qualify row_number() over (order by stretch desc) <= 160
order by stretch;
