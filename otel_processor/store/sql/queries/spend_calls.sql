-- What the model calls of the chosen runs used and cost. Rows of two kinds, since the calls are read once for both:
-- `model`: a row for each of the $top provider and model pairs that cost most (those without a known cost by their tokens), and one
-- more for all others.
-- `stretch`: cost and tokens in each stretch of time, for each of the $top_stacked models that come first by $measure ('cost' or
-- 'tokens'), all others together as one. Stretches are hours over up to two days, days over up to half a year, else weeks, in the
-- viewer's zone; where there are more than 190 the last ones are taken.
-- Where no model call of a run tells its tokens or its cost, what the run's outermost agents say of the whole is told without a model
-- (is_root). A choice of models restricts the calls too. Rows of step 0 stand for model calls that were not recorded: their tokens
-- count, they are no calls.
with told as (
    select
        false as is_root,
        coalesce(provider, '') as provider,
        coalesce(model, '') as model,
        cost_source,
        -- Each quarter of an hour lies in one day of any zone.
        time_bucket(interval 15 minutes, coalesce(started_at, ended_at)) as quarter,
        step > 0 as is_call,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cost_usd
    from calls
    where kind = 'model'
        and run_id in (select run_id from chosen_runs)
        and (getvariable('models') is null or list_contains(getvariable('models'), model))
    union all by name
    select
        true as is_root,
        '' as provider,
        '' as model,
        time_bucket(interval 15 minutes, r.started_at) as quarter,
        false as is_call,
        case when t.input_tokens is null then r.root_input_tokens end as input_tokens,
        case when t.output_tokens is null then r.root_output_tokens end as output_tokens,
        case when t.cost_usd is null then r.root_cost_usd end as cost_usd
    from run_rows as r
    left join run_totals as t on t.run_id = r.run_id
    where getvariable('models') is null
        and r.run_id in (select run_id from chosen_runs)
),
-- Calls that are alike in what is known of them. There are few of these: what follows reads them as often as it likes.
alike as materialized (
    select
        is_root,
        provider,
        model,
        cost_source,
        quarter,
        is_call,
        input_tokens is not null as has_input,
        input_tokens is not null or output_tokens is not null as has_usage,
        cache_read_tokens is not null as has_cache,
        cost_usd is not null as has_cost,
        count(*) as calls,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        case when coalesce(sum(input_tokens), sum(output_tokens)) is not null
             then coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0) end as tokens,
        sum(cache_read_tokens) as cache_read_tokens,
        sum(cost_usd) as cost
    from told
    where not is_root or coalesce(input_tokens, output_tokens) is not null or cost_usd is not null
    group by all
),
models as (
    select
        is_root,
        provider,
        model,
        coalesce(sum(calls) filter (is_call), 0) as calls,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        sum(tokens) as tokens,
        -- Cached tokens are part of the input: their share is one of the calls that tell both.
        sum(cache_read_tokens) filter (has_input) as cache_read_tokens,
        sum(input_tokens) filter (has_cache) as cache_input_tokens,
        coalesce(sum(calls) filter (is_call and has_input and not has_cache), 0) as calls_without_cache,
        sum(cost) as cost,
        coalesce(sum(calls) filter (is_call and not has_usage), 0) as calls_without_usage,
        coalesce(sum(calls) filter (not is_root and has_usage and not has_cost), 0) as unpriced_calls,
        sum(tokens) filter (not is_root and not has_cost) as unpriced_tokens,
        coalesce(sum(calls) filter (cost_source = 'span'), 0) as span_calls,
        sum(cost) filter (cost_source = 'span') as span_cost,
        coalesce(sum(calls) filter (cost_source = 'override'), 0) as override_calls,
        sum(cost) filter (cost_source = 'override') as override_cost,
        coalesce(sum(calls) filter (cost_source = 'price_list'), 0) as list_calls,
        sum(cost) filter (cost_source = 'price_list') as list_cost
    from alike
    group by is_root, provider, model
),
placed as (
    select
        *,
        least(row_number() over (order by cost desc nulls last, tokens desc nulls last, model, provider), $top::BIGINT + 1) as place
    from models
),
stacked as (
    select
        is_root,
        model,
        row_number() over (
            order by
                case when $measure = 'cost' then sum(cost) else sum(tokens) end desc nulls last,
                sum(tokens) desc nulls last,
                model,
                is_root
        ) as place
    from models
    group by is_root, model
),
in_time as (
    select is_root, model, quarter, tokens, cost
    from alike
    where quarter is not null and (has_usage or has_cost)
),
spanned as (
    select
        case
            when max(quarter) - min(quarter) <= interval 48 hours then 'hour'
            when max(quarter) - min(quarter) <= interval 184 days then 'day'
            else 'week'
        end as unit
    from in_time
),
stretches as (
    select
        p.unit,
        date_trunc(p.unit, timezone($zone, i.quarter)) as stretch,
        least(s.place, $top_stacked::BIGINT + 1) as place,
        i.is_root,
        i.model,
        i.tokens,
        i.cost
    from in_time as i
    join stacked as s on s.model = i.model and s.is_root = i.is_root
    cross join spanned as p
)
select
    'model' as kind,
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
    sum(list_cost) as list_cost,
    null::VARCHAR as unit,
    null::TIMESTAMP as stretch
from placed
group by place
union all by name
select
    'stretch' as kind,
    unit,
    stretch,
    place,
    place > $top_stacked::BIGINT as is_rest,
    case when place <= $top_stacked::BIGINT then any_value(nullif(model, '')) end as model,
    case when place <= $top_stacked::BIGINT then any_value(is_root) else false end as is_root,
    sum(tokens)::BIGINT as tokens,
    sum(cost) as cost
from stretches
group by unit, stretch, place
qualify dense_rank() over (order by stretch desc) <= 190
order by kind, stretch, place;
