-- The traces with anything of these runs.
create temp table chosen_traces as
select trace_id
from source.trace_runs
where run_id in (from chosen_runs)
union
select trace_id
from source.call_rows
where declared_run_id in (from chosen_runs);
