-- The calls of one run between two steps, in the order in which they ended, with the beginning of what went in and came out.
with run_traces as (
    select trace_id from trace_runs where run_id = $run_id
    union
    select trace_id from call_rows where declared_run_id = $run_id
    union
    -- A trace that is of no run is one of its own.
    select $run_id
)
select
    row_number() over (order by end_unix_nano, span_id) as position,
    span_id, step, kind, agent, tool, model, signature, progress, repeats, flat_steps, effect, is_error, error_class,
    input_tokens, output_tokens, started_at, ended_at,
    left(arguments, 200) as arguments,
    left(coalesce(error_message, result), 200) as result
from calls
where trace_id in (select trace_id from run_traces) and run_id = $run_id and step between $first_step and $last_step
order by end_unix_nano, span_id
limit $limit;
