-- What did going in circles waste, per task?
select
    task,
    count(*) as runs,
    count(*) filter (flagged_reason is not null) as flagged_runs,
    sum(wasted_tokens)::BIGINT as wasted_tokens,
    round(sum(wasted_cost_usd), 4) as wasted_cost_usd,
    round(100 * sum(wasted_tokens) / nullif(sum(tokens), 0), 1) as wasted_percent
from runs
group by task
order by wasted_cost_usd desc nulls last, wasted_tokens desc nulls last
limit 100;
