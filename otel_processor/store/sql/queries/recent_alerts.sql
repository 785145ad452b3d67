-- The newest alerts of all runs, with how many there are and how many of them are still open.
select
    alert_id,
    run_id,
    "at" as raised_at,
    severity,
    pattern,
    action,
    stop_reason,
    task,
    agent,
    tool,
    left(message, 600) as message,
    resolved_at,
    resolved_at >= (select max(r.ended_at) from run_rows as r where r.run_id = alerts.run_id) as until_the_end,
    count(*) over () as alerts,
    count(*) filter (resolved_at is null) over () as open_alerts
from alerts
order by raised_at desc, alert_id
limit $limit;
