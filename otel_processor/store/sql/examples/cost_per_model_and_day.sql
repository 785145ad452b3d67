-- What did each model cost, day by day?
select
    started_at::DATE as day,
    provider,
    model,
    count(*) as calls,
    sum(input_tokens)::BIGINT as input_tokens,
    sum(output_tokens)::BIGINT as output_tokens,
    round(sum(cost_usd), 4) as cost_usd,
    count(*) filter (cost_usd is null) as calls_without_price
from calls
where kind = 'model' and step > 0
group by day, provider, model
order by day desc, cost_usd desc nulls last
limit 500;
