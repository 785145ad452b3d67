-- The newest messages about alerts, with what they are about and how they stand; those that are not done first at the same time.
select
    d.delivery_id,
    d.created_at,
    d.kind,
    d.sink,
    d.state,
    d.attempts,
    case when d.state in ('pending', 'suppressed') then d.due_at end as next_try_at,
    d.sent_at,
    d.error,
    d.alert_id,
    d.run_id,
    coalesce(d.pattern, a.pattern) as pattern,
    a.severity,
    a.task,
    left(a.message, 600) as message,
    (select count(distinct h.alert_id) from deliveries as h where h.summary_id = d.delivery_id) as held_alerts,
    count(*) over () as deliveries
from deliveries as d
left join alerts as a on a.alert_id = d.alert_id
order by d.created_at desc, d.delivery_id
limit $limit;
