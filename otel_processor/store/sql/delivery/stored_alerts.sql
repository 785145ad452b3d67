-- Which of these runs have an alert for which pattern.
select distinct run_id, pattern
from alerts
where run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')));
