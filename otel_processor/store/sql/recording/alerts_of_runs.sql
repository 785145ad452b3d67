-- Alerts that were told about these runs, from when to when they held, and whether they lack a name.
select alert_id, run_id, pattern, action, epoch_us("at"), epoch_us(resolved_at), task is null or agent is null
from alerts
where run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')));
