-- One run with its totals and the number of its last step; no row when there is no such run.
select
    run_id, task, task_type, agent, service, started_at, ended_at, last_seen_at, steps, tool_calls, model_calls,
    failed_tool_calls, flat_steps, longest_flat_streak, repeated_signature_rate, tokens, wasted_tokens, cost_usd,
    wasted_cost_usd,
    (
        select count(*)
        from calls
        where run_id = $run_id and kind = 'model' and cost_usd is null and coalesce(input_tokens, output_tokens) is not null
    ) as unpriced_calls,
    stop_reason, flagged_reason, status,
    coalesce((select max(step) from calls where run_id = $run_id), 0) as last_step
from runs
where run_id = $run_id
limit 1;
