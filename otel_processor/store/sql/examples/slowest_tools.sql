-- Which tools are slow?
select
    tool,
    count(*) as calls,
    round(median(epoch_us(ended_at) - epoch_us(started_at)) / 1e6, 3) as median_seconds,
    round(quantile_cont(epoch_us(ended_at) - epoch_us(started_at), 0.95) / 1e6, 3) as p95_seconds,
    round(sum(epoch_us(ended_at) - epoch_us(started_at)) / 1e6, 1) as seconds_together
from calls
where kind = 'tool' and ended_at >= started_at
group by tool
order by p95_seconds desc
limit 100;
