-- One row per run: what was decided (run_rows) beside what is counted of its calls (run_totals, which sql/totals/counted.sql
-- explains). Where no model call tells its tokens, they are the outermost agents' totals.
create or replace view runs as
select
    r.run_id,
    r.task,
    r.task_type,
    r.agent,
    r.service,
    r.started_at,
    r.ended_at,
    r.last_seen_at,
    coalesce(c.steps, 0) as steps,
    coalesce(c.tool_calls, 0) as tool_calls,
    coalesce(c.model_calls, 0) as model_calls,
    coalesce(c.failed_tool_calls, 0) as failed_tool_calls,
    coalesce(c.flat_steps, 0) as flat_steps,
    coalesce(c.longest_flat_streak, 0) as longest_flat_streak,
    c.repeated_tool_calls / nullif(c.signed_tool_calls, 0) as repeated_signature_rate,
    coalesce(c.input_tokens, r.root_input_tokens) as input_tokens,
    coalesce(c.output_tokens, r.root_output_tokens) as output_tokens,
    case when coalesce(c.input_tokens, c.output_tokens, r.root_input_tokens, r.root_output_tokens) is null then null
         else coalesce(c.input_tokens, r.root_input_tokens, 0) + coalesce(c.output_tokens, r.root_output_tokens, 0) end as tokens,
    coalesce(c.cost_usd, r.root_cost_usd) as cost_usd,
    coalesce(c.unpriced_calls, 0) as unpriced_calls,
    coalesce(c.calls_without_usage, 0) as calls_without_usage,
    c.wasted_tokens,
    c.wasted_cost_usd,
    r.stop_reason,
    r.flagged_reason,
    r.policy_hash,
    r.status,
    coalesce(c.models, []) as models,
    coalesce(c.open_flat_streak, 0) as open_flat_streak,
    coalesce(c.last_step, 0) as last_step,
    c.last_tool,
    c.cache_read_tokens
from run_rows as r
left join run_totals as c on c.run_id = r.run_id;
