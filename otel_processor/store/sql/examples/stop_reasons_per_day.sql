-- Why did runs stop, day by day?
select
    coalesce(ended_at, last_seen_at, started_at)::DATE as day,
    stop_reason,
    count(*) as runs,
    count(*) filter (flagged_reason is not null) as flagged_runs
from runs
group by day, stop_reason
order by day desc, runs desc
limit 500;
