-- One row: the runs seen in the last $hours hours (NULL: ever), and what they spent.
-- Calls without a price are counted here, so that a database that no writer has brought up to date can be read too.
with chosen as (
    select run_id, status, flagged_reason, tokens, wasted_tokens, cost_usd, wasted_cost_usd
    from runs
    where $hours::BIGINT is null or coalesce(last_seen_at, ended_at, started_at) >= now() - to_hours($hours::BIGINT)
)
select
    count(*) as runs,
    count(*) filter (status = 'running') as running,
    count(*) filter (flagged_reason is not null) as flagged,
    count(*) filter (tokens is null) as runs_without_usage,
    sum(tokens)::BIGINT as tokens,
    sum(wasted_tokens)::BIGINT as wasted_tokens,
    sum(cost_usd) as cost_usd,
    sum(wasted_cost_usd) as wasted_cost_usd,
    (
        select count(*)
        from calls
        where kind = 'model' and cost_usd is null and coalesce(input_tokens, output_tokens) is not null
            and run_id in (select run_id from chosen)
    ) as unpriced_calls,
    (select count(*) from run_rows) as runs_ever
from chosen;
