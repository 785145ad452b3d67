-- One row per run: what was decided (run_rows) beside what is counted of its calls (run_totals, which sql/totals/counted.sql
-- explains). Where no model call tells its tokens, they are the outermost agents' totals.
-- Where the guard told of a run and no call of it is stored, its agent only asked: what its calls would be counted for is not known.
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
    case when r.is_counted then coalesce(r.steps, 0) end as steps,
    case when r.is_counted then coalesce(r.tool_calls, 0) end as tool_calls,
    case when r.is_counted then coalesce(r.model_calls, 0) end as model_calls,
    case when r.is_counted then coalesce(r.failed_tool_calls, 0) end as failed_tool_calls,
    case when r.is_counted then coalesce(r.flat_steps, 0) end as flat_steps,
    case when r.is_counted then coalesce(r.longest_flat_streak, 0) end as longest_flat_streak,
    r.repeated_tool_calls / nullif(r.signed_tool_calls, 0) as repeated_signature_rate,
    coalesce(r.input_tokens, r.root_input_tokens) as input_tokens,
    coalesce(r.output_tokens, r.root_output_tokens) as output_tokens,
    case when coalesce(r.input_tokens, r.output_tokens, r.root_input_tokens, r.root_output_tokens) is null then null
         else coalesce(r.input_tokens, r.root_input_tokens, 0) + coalesce(r.output_tokens, r.root_output_tokens, 0) end as tokens,
    coalesce(r.cost_usd, r.root_cost_usd) as cost_usd,
    coalesce(r.unpriced_calls, 0) as unpriced_calls,
    coalesce(r.calls_without_usage, 0) as calls_without_usage,
    case when r.is_counted then r.wasted_tokens end as wasted_tokens,
    case when r.is_counted then r.wasted_cost_usd end as wasted_cost_usd,
    r.stop_reason,
    r.flagged_reason,
    r.policy_hash,
    r.status,
    coalesce(r.models, []) as models,
    case when r.is_counted then coalesce(r.open_flat_streak, 0) end as open_flat_streak,
    coalesce(r.last_step, 0) as last_step,
    r.last_tool,
    r.cache_read_tokens
from (
    select
        d.*,
        c.* exclude (run_id),
        c.last_step > 0 or not coalesce(d.is_guarded, d.service = 'otel_processor.guard', false) as is_counted
    from run_rows as d
    left join run_totals as c on c.run_id = d.run_id
) as r;
