-- How much of each model's input came from its cache?
select
    model,
    count(*) as calls,
    sum(input_tokens)::BIGINT as input_tokens,
    sum(cache_read_tokens)::BIGINT as cache_read_tokens,
    round(100 * sum(cache_read_tokens) filter (input_tokens is not null)
        / nullif(sum(input_tokens) filter (cache_read_tokens is not null), 0), 1) as cache_percent,
    count(*) filter (cache_read_tokens is null) as calls_that_do_not_say
from calls
where kind = 'model' and step > 0
group by model
order by input_tokens desc nulls last
limit 100;
