-- What can be counted of runs, from the rows of `chosen_calls`: some of `calls`, always all of a run.
-- Tokens and cost are those of model calls, the leaves: agent spans repeat the sum of their children.
-- cost_usd is the sum of what is known: unpriced_calls says how many calls with usage it leaves out, and it is NULL
-- when it leaves out all of them.
-- wasted_*: spent in steps whose tool calls all turned out flat, or all repeated an earlier call while nothing changed
-- (known also where no result is recorded; asking for a status again is not held against a run). Nothing was wasted is 0
-- where the whole is known; what wasted steps took may be unknown all the same.
-- Step 0 holds what stands for model calls that were not recorded: no step.
-- A run calls a handful of models: whoever makes up a name for each call is not listed without end.
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
        list(signature) filter (kind = 'tool' and signature is not null) as signatures,
        list(model) filter (kind = 'model' and model is not null) as models,
        -- The greatest is the last: the order of a run is (end, span id).
        max({'end_unix_nano': end_unix_nano, 'span_id': span_id, 'tool': tool, 'flat_steps': flat_steps}) filter (kind = 'tool')
            as last_call,
        min(end_unix_nano) as first_end_unix_nano
    from chosen_calls
    group by run_id, step
),
run_facts as (
    select
        run_id,
        count(*) filter (step > 0) as steps,
        max(step) as last_step,
        sum(tool_calls)::BIGINT as tool_calls,
        coalesce(sum(model_calls) filter (step > 0), 0)::BIGINT as model_calls,
        sum(failed_tool_calls)::BIGINT as failed_tool_calls,
        flatten(list(signatures)) as signatures,
        count(*) filter (is_flat) as flat_steps,
        max(flat_streak) as longest_flat_streak,
        max(last_call) as last_call,
        sum(input_tokens)::BIGINT as input_tokens,
        sum(output_tokens)::BIGINT as output_tokens,
        sum(cache_read_tokens)::BIGINT as cache_read_tokens,
        -- A DOUBLE that is the sum of some ends in noise; nothing is paid in less than a ten-billionth.
        round(sum(cost_usd), 10) as cost_usd,
        sum(unpriced_calls)::BIGINT as unpriced_calls,
        sum(calls_without_usage)::BIGINT as calls_without_usage,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))
            filter ((is_flat or is_repeat) and coalesce(input_tokens, output_tokens) is not null)::BIGINT as wasted_tokens,
        round(sum(cost_usd) filter (is_flat or is_repeat), 10) as wasted_cost_usd,
        coalesce(bool_or(model_calls > 0) filter (is_flat or is_repeat), false) as wasted_any,
        flatten(list(models)) as models,
        min(first_end_unix_nano) as first_end_unix_nano
    from step_facts
    group by run_id
)
select
    run_id,
    steps,
    last_step,
    tool_calls,
    model_calls,
    failed_tool_calls,
    coalesce(len(signatures), 0) as signed_tool_calls,
    coalesce(len(signatures) - list_unique(signatures), 0) as repeated_tool_calls,
    flat_steps,
    longest_flat_streak,
    coalesce(last_call.flat_steps, 0) as open_flat_streak,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cost_usd,
    unpriced_calls,
    calls_without_usage,
    case when input_tokens is null and output_tokens is null then null when wasted_any then wasted_tokens else 0 end as wasted_tokens,
    case when cost_usd is null then null when wasted_any then wasted_cost_usd else 0 end as wasted_cost_usd,
    coalesce(list_sort(list_distinct(models))[:50], []) as models,
    last_call.tool as last_tool,
    first_end_unix_nano
from run_facts
