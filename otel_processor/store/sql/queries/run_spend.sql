-- Tokens and cost that one run had spent by the end of each step between two steps, with how many model calls those sums leave out.
with per_step as (
    select
        step,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) as tokens,
        sum(cost_usd) as cost_usd,
        count(*) filter (kind = 'model' and coalesce(input_tokens, output_tokens) is not null) as told,
        count(*) filter (kind = 'model' and coalesce(input_tokens, output_tokens) is null) as without_usage,
        count(*) filter (kind = 'model' and cost_usd is null and coalesce(input_tokens, output_tokens) is not null) as unpriced
    from calls_of_run
    group by step
),
summed as (
    select
        step,
        (sum(tokens) over until_here)::BIGINT as tokens,
        sum(cost_usd) over until_here as cost_usd,
        (sum(told) over until_here)::BIGINT as told,
        (sum(without_usage) over until_here)::BIGINT as without_usage,
        (sum(unpriced) over until_here)::BIGINT as unpriced
    from per_step
    window until_here as (order by step rows unbounded preceding)
)
select step, case when told > 0 then tokens end as tokens, cost_usd, without_usage, unpriced
from summed
where step between $first_step and $last_step
order by step
limit $limit;
