-- Messages about alerts of these runs, the latest first: when they were told, or will be.
select alert_id, sink, run_id, pattern, state, epoch_us(coalesce(sent_at, greatest(created_at, due_at))) as told_us
from deliveries
where kind = 'alert' and run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')))
order by told_us desc;
