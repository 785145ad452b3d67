-- Why these runs ended, and what they were flagged with.
select run_id, stop_reason, flagged_reason
from run_rows
where run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')));
