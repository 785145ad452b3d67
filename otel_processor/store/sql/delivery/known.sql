-- Messages about alerts of these runs, the latest first.
select alert_id, sink, run_id, pattern, state, epoch_us(created_at)
from deliveries
where kind = 'alert' and run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')))
order by created_at desc;
