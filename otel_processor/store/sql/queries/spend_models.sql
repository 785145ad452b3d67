-- What the model calls of the chosen runs used and cost: a row for each of the $top provider and model pairs that cost most (those
-- without a known cost by their tokens), and one more for all others. Where no model call of a run tells its tokens or its cost, what
-- the run's outermost agents say of the whole is a row without a model (is_root). A choice of models restricts the calls too.
-- Rows of step 0 stand for model calls that were not recorded: their tokens count, they are no calls.
with told as (
    select
        false as is_root,
        coalesce(provider, '') as provider,
        coalesce(model, '') as model,
        step > 0 as is_call,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cost_usd,
        cost_source
    from calls
    where kind = 'model'
        and run_id in (select run_id from chosen_runs)
        and (getvariable('models') is null or list_contains(getvariable('models'), model))
    union all by name
    select
        true as is_root,
        '' as provider,
        '' as model,
        false as is_call,
        case when t.input_tokens is null then r.root_input_tokens end as input_tokens,
        case when t.output_tokens is null then r.root_output_tokens end as output_tokens,
        case when t.cost_usd is null then r.root_cost_usd end as cost_usd
    from run_rows as r
    left join run_totals as t on t.run_id = r.run_id
    where getvariable('models') is null
        and r.run_id in (select run_id from chosen_runs)
        and coalesce(
            case when t.input_tokens is null then r.root_input_tokens end,
            case when t.output_tokens is null then r.root_output_tokens end,
            case when t.cost_usd is null then r.root_cost_usd end
        ) is not null
),
summed as (
    select
        is_root,
        provider,
        model,
        count(*) filter (is_call) as calls,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))
            filter (coalesce(input_tokens, output_tokens) is not null) as tokens,
        -- Cached tokens are part of the input: their share is one of the calls that tell both.
        sum(cache_read_tokens) filter (input_tokens is not null) as cache_read_tokens,
        sum(input_tokens) filter (cache_read_tokens is not null) as cache_input_tokens,
        count(*) filter (is_call and cache_read_tokens is null and input_tokens is not null) as calls_without_cache,
        sum(cost_usd) as cost,
        count(*) filter (is_call and coalesce(input_tokens, output_tokens) is null) as calls_without_usage,
        count(*) filter (not is_root and cost_usd is null and coalesce(input_tokens, output_tokens) is not null) as unpriced_calls,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))
            filter (not is_root and cost_usd is null and coalesce(input_tokens, output_tokens) is not null) as unpriced_tokens,
        count(*) filter (cost_source = 'span') as span_calls,
        sum(cost_usd) filter (cost_source = 'span') as span_cost,
        count(*) filter (cost_source = 'override') as override_calls,
        sum(cost_usd) filter (cost_source = 'override') as override_cost,
        count(*) filter (cost_source = 'price_list') as list_calls,
        sum(cost_usd) filter (cost_source = 'price_list') as list_cost
    from told
    group by is_root, provider, model
),
placed as (
    select
        *,
        least(row_number() over (order by cost desc nulls last, tokens desc nulls last, model, provider), $top::BIGINT + 1) as place
    from summed
)
select
    place,
    place > $top::BIGINT as is_rest,
    count(*) as models,
    case when place <= $top::BIGINT then any_value(nullif(provider, '')) end as provider,
    case when place <= $top::BIGINT then any_value(nullif(model, '')) end as model,
    case when place <= $top::BIGINT then any_value(is_root) else false end as is_root,
    sum(calls)::BIGINT as calls,
    sum(input_tokens)::BIGINT as input_tokens,
    sum(output_tokens)::BIGINT as output_tokens,
    sum(tokens)::BIGINT as tokens,
    sum(cache_read_tokens)::BIGINT as cache_read_tokens,
    sum(cache_input_tokens)::BIGINT as cache_input_tokens,
    sum(calls_without_cache)::BIGINT as calls_without_cache,
    sum(cost) as cost,
    sum(calls_without_usage)::BIGINT as calls_without_usage,
    sum(unpriced_calls)::BIGINT as unpriced_calls,
    sum(unpriced_tokens)::BIGINT as unpriced_tokens,
    sum(span_calls)::BIGINT as span_calls,
    sum(span_cost) as span_cost,
    sum(override_calls)::BIGINT as override_calls,
    sum(override_cost) as override_cost,
    sum(list_calls)::BIGINT as list_calls,
    sum(list_cost) as list_cost
from placed
group by place
order by place;
