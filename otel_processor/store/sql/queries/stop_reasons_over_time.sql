-- How many of the chosen runs began in each stretch of time, per stop reason. Stretches are minutes over up to two hours,
-- hours over up to three days, days over up to a quarter, else weeks, in the viewer's zone; where there are more than 160 stretches the last ones are taken.
with chosen as (
    select stop_reason, flagged_reason is not null as flagged, started_at
    from chosen_runs
    where started_at is not null
),
spanned as (
    select
        case
            when max(started_at) - min(started_at) <= interval 2 hours then 'minute'
            when max(started_at) - min(started_at) <= interval 72 hours then 'hour'
            when max(started_at) - min(started_at) <= interval 92 days then 'day'
            else 'week'
        end as unit
    from chosen
),
placed as (
    select s.unit, date_trunc(s.unit, timezone($zone, c.started_at)) as stretch, c.stop_reason, c.flagged
    from chosen as c
    cross join spanned as s
)
select unit, stretch, stop_reason, count(*) as runs, count(*) filter (flagged) as flagged
from placed
group by unit, stretch, stop_reason
qualify dense_rank() over (order by stretch desc) <= 160
order by stretch, stop_reason;
