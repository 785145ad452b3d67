-- The runs of a conversation, the latest first, with when they began and were last seen (in nanoseconds); runs that were
-- decided by another rule are no stretch of it.
select run_id, epoch_us(started_at) * 1000, epoch_us(last_seen_at) * 1000
from run_rows
where service is not distinct from $service and conversation_id = $conversation_id
    and run_id in (select run_id from trace_runs where decided_by = 'conversation')
    and run_id not in (select unnest(from_json($being_replaced::JSON, '["VARCHAR"]')))
order by last_seen_at desc
limit 512;
