-- Tokens, cost and steps per run for each of the $top tasks that spent most, as quartiles; one more row for all other tasks.
with chosen as (
    select task, tokens, wasted_tokens, cost_usd, steps
    from chosen_runs
),
ranked as (
    select task, row_number() over (order by sum(tokens) desc nulls last, count(*) desc, task) as place
    from chosen
    group by task
),
placed as (
    select
        least(r.place, $top::BIGINT + 1) as place,
        case when r.place <= $top::BIGINT then c.task end as task,
        c.task as own_task,
        c.tokens,
        c.wasted_tokens,
        c.cost_usd,
        c.steps
    from chosen as c
    join ranked as r on r.task is not distinct from c.task
)
select
    place,
    any_value(task) as task,
    place > $top::BIGINT as is_rest,
    greatest(count(distinct own_task), 1) as tasks,
    count(*) as runs,
    count(*) filter (tokens is null) as runs_without_usage,
    sum(tokens)::BIGINT as tokens,
    sum(wasted_tokens)::BIGINT as wasted_tokens,
    min(tokens)::DOUBLE as tokens_min,
    quantile_cont(tokens, 0.25) as tokens_q1,
    quantile_cont(tokens, 0.5) as tokens_median,
    quantile_cont(tokens, 0.75) as tokens_q3,
    max(tokens)::DOUBLE as tokens_max,
    sum(cost_usd) as cost,
    min(cost_usd)::DOUBLE as cost_min,
    quantile_cont(cost_usd, 0.25) as cost_q1,
    quantile_cont(cost_usd, 0.5) as cost_median,
    quantile_cont(cost_usd, 0.75) as cost_q3,
    max(cost_usd)::DOUBLE as cost_max,
    sum(steps)::BIGINT as steps,
    min(steps)::DOUBLE as steps_min,
    quantile_cont(steps, 0.25) as steps_q1,
    quantile_cont(steps, 0.5) as steps_median,
    quantile_cont(steps, 0.75) as steps_q3,
    max(steps)::DOUBLE as steps_max
from placed
group by place
order by place;
