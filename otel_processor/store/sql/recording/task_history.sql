-- What the healthy runs of a task used that ended before a time, the latest 200 of them: how many there are, and the 95th
-- percentile of steps, tokens and cost. A run that looped or failed is no measure of what a task takes, and one
-- of which no step is stored is none of its steps.
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
        nullif(steps, 0) as steps,
        case when input_tokens is not null or output_tokens is not null
             then coalesce(input_tokens, 0) + coalesce(output_tokens, 0) end as tokens,
        cost_usd
    from run_totals
    where run_id in (select run_id from healthy) and (select count(*) from healthy) >= $least
)
select count(*), quantile_cont(steps, 0.95), quantile_cont(tokens, 0.95), quantile_cont(cost_usd, 0.95)
from used;
