-- The traces of these runs; calls tell of runs that the user declared.
select trace_id, run_id
from trace_runs
where run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')))
union
select trace_id, declared_run_id
from call_rows
where declared_run_id in (select unnest(from_json($run_ids::JSON, '["VARCHAR"]')));
