-- The texts of one call, cut at $longest characters, with how long they were.
select
    step, tool, signature, fingerprint, is_error, error_class, started_at, ended_at,
    left(arguments, $longest::BIGINT) as arguments,
    length(arguments) as arguments_length,
    left(result, $longest::BIGINT) as result,
    length(result) as result_length,
    left(error_message, $longest::BIGINT) as error_message,
    length(error_message) as error_message_length
from calls_of_run
where trace_id = $trace_id and span_id = $span_id
limit 1;
