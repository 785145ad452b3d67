-- Alerts that were told about these runs.
select alert_id, run_id, pattern, action, resolved_at is null as is_open
from alerts
where run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')));
