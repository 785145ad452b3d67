-- What is told of an alert: of its run as far as that is stored.
select
    a.alert_id, a.run_id, epoch_us(a."at") as at_us, coalesce(a.task, r.task) as task, coalesce(a.agent, r.agent) as agent,
    a.pattern, a.severity, a.action, a.stop_reason, a.message, epoch_us(a.resolved_at) as resolved_us,
    a.resolved_at >= r.ended_at as until_the_end,
    r.run_id is not null as run_is_known,
    nullif(r.steps, 0) as steps, r.tokens, r.cost_usd
from alerts as a
left join runs as r on r.run_id = a.run_id
where a.alert_id in (select unnest(from_json($alert_ids::JSON, '["VARCHAR"]')));
