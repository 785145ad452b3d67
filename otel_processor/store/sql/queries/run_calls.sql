-- The calls of one run between two steps, in the order in which they ended, with the beginning of what went in and came out.
select
    row_number() over (order by end_unix_nano, span_id) as position,
    span_id, step, kind, agent, tool, model, signature, progress, repeats, flat_steps, effect, is_error, error_class,
    input_tokens, output_tokens, started_at, ended_at, content,
    left(arguments, 200) as arguments,
    left(coalesce(error_message, result), 200) as result
from calls_of_run
where step between $first_step and $last_step
order by end_unix_nano, span_id
limit $limit;
