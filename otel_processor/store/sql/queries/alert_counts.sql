-- One row: how many of the chosen alerts are open, and how many runs have an open one.
select
    count(*) as alerts,
    count(*) filter (resolved_at is null) as open_alerts,
    count(*) filter (resolved_at is null and severity = 'critical') as open_critical,
    count(distinct run_id) filter (resolved_at is null) as looping_runs
from chosen_alerts;
