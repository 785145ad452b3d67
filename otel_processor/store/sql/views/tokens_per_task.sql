-- Tokens and cost per task. Missing stays NULL: a run without usage is counted as such, not as free.
-- Sums are those of what is known; unpriced_calls and calls_without_usage say how many model calls they leave out.
create or replace view tokens_per_task as
select
    task,
    count(*) as runs,
    count(*) filter (tokens is null) as runs_without_usage,
    sum(input_tokens)::BIGINT as input_tokens,
    sum(output_tokens)::BIGINT as output_tokens,
    sum(tokens)::BIGINT as tokens,
    median(tokens) as median_tokens_per_run,
    max(tokens) as max_tokens_per_run,
    sum(wasted_tokens)::BIGINT as wasted_tokens,
    sum(cost_usd) as cost_usd,
    sum(wasted_cost_usd) as wasted_cost_usd,
    sum(unpriced_calls)::BIGINT as unpriced_calls,
    sum(calls_without_usage)::BIGINT as calls_without_usage
from runs
group by task;
