-- The calls of one step of a run in full, texts cut at $longest characters, with how long they were.
select
    span_id, kind, agent, tool, model, signature, fingerprint, progress, repeats, flat_steps, effect, is_error,
    error_class, input_tokens, output_tokens, finish_reason, started_at, ended_at,
    left(arguments, $longest::BIGINT) as arguments,
    length(arguments) as arguments_length,
    left(result, $longest::BIGINT) as result,
    length(result) as result_length,
    left(error_message, $longest::BIGINT) as error_message,
    length(error_message) as error_message_length
from calls
where run_id = $run_id and step = $step
order by end_unix_nano, span_id
limit $limit;
