-- The calls of one run with all that is kept of them, each as a JSON text, in their order, as many as have no more than $longest bytes
-- together; beside each how many calls the run has.
with written as (
    select
        end_unix_nano,
        span_id,
        to_json({
            step: step, kind: kind, agent: agent, trace_id: trace_id, span_id: span_id, call_id: call_id, tool: tool,
            arguments: arguments, result: result, is_error: is_error, error_class: error_class, error_message: error_message,
            signature: signature, fingerprint: fingerprint, progress: progress, repeats: repeats, flat_steps: flat_steps,
            effect: effect, model: model, provider: provider, input_tokens: input_tokens, output_tokens: output_tokens,
            cache_read_tokens: cache_read_tokens, cache_write_tokens: cache_write_tokens, reasoning_tokens: reasoning_tokens,
            cost_usd: cost_usd, cost_source: cost_source, finish_reason: finish_reason,
            started_at: epoch_us(started_at), ended_at: epoch_us(ended_at), dialect: dialect
        })::VARCHAR as call
    from calls_of_run
),
counted as (
    select
        *,
        sum(strlen(call) + 2) over (order by end_unix_nano, span_id rows unbounded preceding) as bytes,
        count(*) over () as calls
    from written
)
select call, calls
from counted
where bytes <= $longest
order by end_unix_nano, span_id
limit $limit;
