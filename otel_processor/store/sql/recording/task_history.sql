-- What the healthy runs of a task used that ended before a time, the latest 200 of them: how many there are, and the 95th
-- percentile of steps, tokens and cost. A run that looped or failed is no measure of what a task takes.
with healthy as (
    select run_id
    from run_rows
    where task = $task and status = 'ok' and flagged_reason is null and ended_at is not null
        and ended_at < make_timestamptz($before_us::BIGINT)
        and run_id not in (select unnest(from_json($being_replaced::JSON, '["VARCHAR"]')))
    order by ended_at desc, run_id
    limit 200
),
used as (
    select
        c.run_id,
        count(distinct c.step) filter (c.step > 0) as steps,
        sum(coalesce(c.input_tokens, 0) + coalesce(c.output_tokens, 0)) filter (c.kind = 'model') as tokens,
        sum(c.cost_usd) filter (c.kind = 'model') as cost_usd
    from calls as c
    where c.run_id in (select run_id from healthy) and (select count(*) from healthy) >= $least
    group by c.run_id
)
select count(*), quantile_cont(steps, 0.95), quantile_cont(tokens, 0.95), quantile_cont(cost_usd, 0.95)
from used;
