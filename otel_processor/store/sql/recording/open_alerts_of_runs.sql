-- Which patterns are open in these runs.
select distinct run_id, pattern
from alerts
where resolved_at is null
    and run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')));
