-- One run with its totals and the number of its last step; no row when there is no such run.
select
    run_id, task, task as task_key, task_type, agent, service, started_at, ended_at, last_seen_at, steps, tool_calls, model_calls,
    failed_tool_calls, flat_steps, longest_flat_streak, repeated_signature_rate, tokens, cache_read_tokens, wasted_tokens,
    cost_usd, wasted_cost_usd, unpriced_calls, calls_without_usage, array_to_string(models[:6], ', ') as model,
    stop_reason, flagged_reason, status, last_step,
    -- Only the guard of the service told of it: its agent's calls are not stored.
    steps is null as is_only_asked
from runs
where run_id = $run_id
limit 1;
