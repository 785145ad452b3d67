-- One row: what the chosen runs add up to.
select
    count(*) as runs,
    count(*) filter (status = 'running') as running,
    count(*) filter (flagged_reason is not null) as flagged,
    count(*) filter (flagged_reason is not null and stop_reason = 'completed') as flagged_completed,
    count(*) filter (tokens is null) as runs_without_usage,
    sum(tokens)::BIGINT as tokens,
    sum(wasted_tokens)::BIGINT as wasted_tokens,
    sum(cost_usd) as cost_usd,
    sum(wasted_cost_usd) as wasted_cost_usd,
    sum(unpriced_calls)::BIGINT as unpriced_calls
from chosen_runs;
