-- When these runs were last seen, and whether they are open.
select run_id, coalesce(epoch_us(last_seen_at), 0), stop_reason = 'running'
from run_rows
where run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')));
