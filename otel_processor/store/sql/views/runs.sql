-- One row per run: what was decided (run_rows) beside what can be counted (calls).
-- Tokens and cost are those of model calls, the leaves: agent spans repeat the sum of their children.
-- cost_usd is the sum of what is known: unpriced_calls says how many calls with usage it leaves out, and it is NULL
-- when it leaves out all of them.
-- wasted_*: spent in steps whose tool calls all turned out flat, or all repeated an earlier call while nothing changed
-- (known also where no result is recorded; asking for a status again is not held against a run).
-- Where no model call tells its tokens, they are the outermost agents' totals. Step 0 holds what stands for model calls that
-- were not recorded: no step.
create or replace view runs as
with step_facts as (
    select
        run_id,
        step,
        coalesce(bool_or(progress = false), false) and not coalesce(bool_or(progress), false) as is_flat,
        coalesce(
            bool_and(
                coalesce(progress = false or (progress is null and repeats > 1 and effect is distinct from 'poll'), false)
            ) filter (kind = 'tool'),
            false
        ) as is_repeat,
        sum(input_tokens) filter (kind = 'model') as input_tokens,
        sum(output_tokens) filter (kind = 'model') as output_tokens,
        sum(cost_usd) filter (kind = 'model') as cost_usd,
        count(*) filter (kind = 'tool') as tool_calls,
        count(*) filter (kind = 'model') as model_calls,
        count(*) filter (kind = 'model' and cost_usd is null and coalesce(input_tokens, output_tokens) is not null)
            as unpriced_calls,
        count(*) filter (kind = 'model' and coalesce(input_tokens, output_tokens) is null) as calls_without_usage,
        count(*) filter (is_error and kind = 'tool') as failed_tool_calls,
        max(flat_steps) as flat_streak
    from calls
    group by run_id, step
),
counted as (
    select
        run_id,
        count(*) filter (step > 0) as steps,
        sum(tool_calls)::BIGINT as tool_calls,
        coalesce(sum(model_calls) filter (step > 0), 0)::BIGINT as model_calls,
        sum(failed_tool_calls)::BIGINT as failed_tool_calls,
        count(*) filter (is_flat) as flat_steps,
        max(flat_streak) as longest_flat_streak,
        sum(input_tokens)::BIGINT as input_tokens,
        sum(output_tokens)::BIGINT as output_tokens,
        sum(cost_usd) as cost_usd,
        sum(unpriced_calls)::BIGINT as unpriced_calls,
        sum(calls_without_usage)::BIGINT as calls_without_usage,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))
            filter ((is_flat or is_repeat) and coalesce(input_tokens, output_tokens) is not null)::BIGINT as wasted_tokens,
        sum(cost_usd) filter (is_flat or is_repeat) as wasted_cost_usd,
        coalesce(bool_or(model_calls > 0) filter (is_flat or is_repeat), false) as wasted_any
    from step_facts
    group by run_id
),
signed as (
    select
        run_id,
        (count(*) - count(distinct signature)) / count(*) as repeated_signature_rate
    from calls
    where kind = 'tool' and signature is not null
    group by run_id
)
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
    s.repeated_signature_rate,
    coalesce(c.input_tokens, r.root_input_tokens) as input_tokens,
    coalesce(c.output_tokens, r.root_output_tokens) as output_tokens,
    case when coalesce(c.input_tokens, c.output_tokens, r.root_input_tokens, r.root_output_tokens) is null then null
         else coalesce(c.input_tokens, r.root_input_tokens, 0) + coalesce(c.output_tokens, r.root_output_tokens, 0) end as tokens,
    coalesce(c.cost_usd, r.root_cost_usd) as cost_usd,
    coalesce(c.unpriced_calls, 0) as unpriced_calls,
    coalesce(c.calls_without_usage, 0) as calls_without_usage,
    -- Nothing was wasted is 0 where the whole is known; what wasted steps took may be unknown all the same.
    case when c.input_tokens is null and c.output_tokens is null then null
         when c.wasted_any then c.wasted_tokens else 0 end as wasted_tokens,
    case when c.cost_usd is null then null
         when c.wasted_any then c.wasted_cost_usd else 0 end as wasted_cost_usd,
    r.stop_reason,
    r.flagged_reason,
    r.policy_hash,
    r.status
from run_rows as r
left join counted as c on c.run_id = r.run_id
left join signed as s on s.run_id = r.run_id;
