-- All traces that share a run with these, and those runs; calls tell of runs that the user declared.
with of_runs as (
    select trace_id, run_id from trace_runs
    union
    select trace_id, declared_run_id from call_rows where declared_run_id is not null
)
select trace_id, run_id
from of_runs
where run_id in (
    select run_id from of_runs where trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')))
);
