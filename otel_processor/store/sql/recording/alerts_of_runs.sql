-- Alerts that were told about these runs, and from when to when they held.
select alert_id, run_id, pattern, action, epoch_us("at"), epoch_us(resolved_at)
from alerts
where run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')));
