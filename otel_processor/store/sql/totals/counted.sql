-- What can be counted of runs, from the rows of `chosen_calls`: some of `calls`, always all of a run.
-- Tokens and cost are those of model calls, the leaves: agent spans repeat the sum of their children.
-- cost_usd is the sum of what is known: unpriced_calls says how many calls with usage it leaves out, and it is NULL
-- when it leaves out all of them.
-- wasted_*: spent in steps whose tool calls all turned out flat, or all repeated an earlier call while nothing changed
-- (known also where no result is recorded; asking for a status again is not held against a run). Nothing was wasted is 0
-- where the whole is known; what wasted steps took may be unknown all the same.
-- Step 0 holds what stands for model calls that were not recorded: no step.
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
        sum(cache_read_tokens) filter (kind = 'model') as cache_read_tokens,
        sum(cost_usd) filter (kind = 'model') as cost_usd,
        count(*) filter (kind = 'tool') as tool_calls,
        count(*) filter (kind = 'model') as model_calls,
        count(*) filter (kind = 'model' and cost_usd is null and coalesce(input_tokens, output_tokens) is not null)
            as unpriced_calls,
        count(*) filter (kind = 'model' and coalesce(input_tokens, output_tokens) is null) as calls_without_usage,
        count(*) filter (is_error and kind = 'tool') as failed_tool_calls,
        max(flat_steps) as flat_streak,
        min(end_unix_nano) as first_end_unix_nano
    from chosen_calls
    group by run_id, step
),
of_steps as (
    select
        run_id,
        count(*) filter (step > 0) as steps,
        max(step) as last_step,
        sum(tool_calls)::BIGINT as tool_calls,
        coalesce(sum(model_calls) filter (step > 0), 0)::BIGINT as model_calls,
        sum(failed_tool_calls)::BIGINT as failed_tool_calls,
        count(*) filter (is_flat) as flat_steps,
        max(flat_streak) as longest_flat_streak,
        sum(input_tokens)::BIGINT as input_tokens,
        sum(output_tokens)::BIGINT as output_tokens,
        sum(cache_read_tokens)::BIGINT as cache_read_tokens,
        sum(cost_usd) as cost_usd,
        sum(unpriced_calls)::BIGINT as unpriced_calls,
        sum(calls_without_usage)::BIGINT as calls_without_usage,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))
            filter ((is_flat or is_repeat) and coalesce(input_tokens, output_tokens) is not null)::BIGINT as wasted_tokens,
        sum(cost_usd) filter (is_flat or is_repeat) as wasted_cost_usd,
        coalesce(bool_or(model_calls > 0) filter (is_flat or is_repeat), false) as wasted_any,
        min(first_end_unix_nano) as first_end_unix_nano
    from step_facts
    group by run_id
),
of_signatures as (
    select run_id, count(*) as signed_tool_calls, count(*) - count(distinct signature) as repeated_tool_calls
    from chosen_calls
    where kind = 'tool' and signature is not null
    group by run_id
),
of_models as (
    -- A run calls a handful; whoever makes up a name for each call is not listed without end.
    select run_id, list_sort(list(distinct model))[:50] as models
    from chosen_calls
    where kind = 'model' and model is not null
    group by run_id
),
of_agents as (
    select
        run_id,
        arg_max({'flat_steps': flat_steps, 'tool': tool}, (end_unix_nano, span_id)) as last_call,
        max((end_unix_nano, span_id)) as last_order
    from chosen_calls
    where kind = 'tool'
    group by run_id, coalesce(agent, '')
),
of_last_calls as (
    select
        run_id,
        max(last_call.flat_steps) as open_flat_streak,
        arg_max(last_call.tool, last_order) as last_tool
    from of_agents
    group by run_id
)
select
    run_id,
    s.steps,
    s.last_step,
    s.tool_calls,
    s.model_calls,
    s.failed_tool_calls,
    coalesce(g.signed_tool_calls, 0) as signed_tool_calls,
    coalesce(g.repeated_tool_calls, 0) as repeated_tool_calls,
    s.flat_steps,
    s.longest_flat_streak,
    coalesce(l.open_flat_streak, 0) as open_flat_streak,
    s.input_tokens,
    s.output_tokens,
    s.cache_read_tokens,
    s.cost_usd,
    s.unpriced_calls,
    s.calls_without_usage,
    case when s.input_tokens is null and s.output_tokens is null then null
         when s.wasted_any then s.wasted_tokens else 0 end as wasted_tokens,
    case when s.cost_usd is null then null
         when s.wasted_any then s.wasted_cost_usd else 0 end as wasted_cost_usd,
    coalesce(m.models, []) as models,
    l.last_tool,
    s.first_end_unix_nano
from of_steps as s
left join of_signatures as g using (run_id)
left join of_models as m using (run_id)
left join of_last_calls as l using (run_id)
