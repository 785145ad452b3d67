-- The calls of one step of a run in full, texts cut at $longest characters, with how long they were.
select
    trace_id, span_id, kind, agent, tool, call_id, model, provider, signature, fingerprint, progress, repeats, flat_steps, effect,
    is_error, error_class, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd,
    cost_source, finish_reason, started_at, ended_at, content,
    left(arguments, $longest::BIGINT) as arguments,
    length(arguments) as arguments_length,
    left(result, $longest::BIGINT) as result,
    length(result) as result_length,
    left(error_message, $longest::BIGINT) as error_message,
    length(error_message) as error_message_length
from calls_of_run
where step = $step
order by end_unix_nano, span_id
limit $limit;
