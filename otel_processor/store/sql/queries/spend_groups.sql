-- What the chosen runs spent all in all (`everything`), and per task, agent and service: of each kind a row for each of the $top names
-- that come first by $measure ('cost' or 'tokens'), and one more for all others. Where models are chosen only their calls count, and
-- what was wasted is not known, since that is kept per run.
with spent as (
    select
        coalesce(task, '') as task, coalesce(agent, '') as agent, coalesce(service, '') as service,
        input_tokens, output_tokens, tokens, cost_usd, wasted_tokens, wasted_cost_usd, unpriced_calls, calls_without_usage, model_calls
    from chosen_runs
    where getvariable('models') is null
    union all
    select
        any_value(coalesce(r.task, '')), any_value(coalesce(r.agent, '')), any_value(coalesce(r.service, '')),
        sum(c.input_tokens)::BIGINT,
        sum(c.output_tokens)::BIGINT,
        sum(coalesce(c.input_tokens, 0) + coalesce(c.output_tokens, 0))
            filter (coalesce(c.input_tokens, c.output_tokens) is not null)::BIGINT,
        sum(c.cost_usd),
        null,
        null,
        count(*) filter (c.cost_usd is null and coalesce(c.input_tokens, c.output_tokens) is not null),
        count(*) filter (coalesce(c.input_tokens, c.output_tokens) is null),
        count(*) filter (c.step > 0)
    from calls as c
    join chosen_runs as r on r.run_id = c.run_id
    where getvariable('models') is not null and c.kind = 'model' and list_contains(getvariable('models'), c.model)
    group by c.run_id
),
summed as (
    select
        case grouping(task, agent, service) when 3 then 'task' when 5 then 'agent' when 6 then 'service' else 'everything' end as kind,
        coalesce(task, agent, service, '') as choice,
        count(*) as runs,
        count(*) filter (tokens is null) as runs_without_usage,
        count(*) filter (cost_usd is null) as runs_without_cost,
        sum(model_calls)::BIGINT as model_calls,
        sum(input_tokens)::BIGINT as input_tokens,
        sum(output_tokens)::BIGINT as output_tokens,
        sum(tokens)::BIGINT as tokens,
        sum(cost_usd) as cost,
        sum(wasted_tokens)::BIGINT as wasted_tokens,
        sum(wasted_cost_usd) as wasted_cost,
        sum(unpriced_calls)::BIGINT as unpriced_calls,
        sum(calls_without_usage)::BIGINT as calls_without_usage
    from spent
    group by grouping sets ((task), (agent), (service), ())
),
placed as (
    select
        *,
        least(
            row_number() over (
                partition by kind
                order by case when $measure = 'cost' then cost else tokens end desc nulls last, tokens desc nulls last, choice
            ),
            $top::BIGINT + 1
        ) as place
    from summed
)
select
    kind,
    place,
    place > $top::BIGINT as is_rest,
    count(*) as names,
    case when place <= $top::BIGINT then any_value(nullif(choice, '')) end as name,
    sum(runs)::BIGINT as runs,
    sum(runs_without_usage)::BIGINT as runs_without_usage,
    sum(runs_without_cost)::BIGINT as runs_without_cost,
    sum(model_calls)::BIGINT as model_calls,
    sum(input_tokens)::BIGINT as input_tokens,
    sum(output_tokens)::BIGINT as output_tokens,
    sum(tokens)::BIGINT as tokens,
    sum(cost) as cost,
    sum(wasted_tokens)::BIGINT as wasted_tokens,
    sum(wasted_cost) as wasted_cost,
    sum(unpriced_calls)::BIGINT as unpriced_calls,
    sum(calls_without_usage)::BIGINT as calls_without_usage
from placed
group by kind, place
order by kind, place;
