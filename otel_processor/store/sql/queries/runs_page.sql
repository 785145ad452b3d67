-- One page of the chosen runs that a search leaves, sorted by one of their figures; the runs without it come last.
select
    run_id, task, agent, service, status, stop_reason, flagged_reason, started_at, ended_at, last_seen_at, steps,
    longest_flat_streak, repeated_signature_rate, tokens, wasted_tokens, cost_usd, wasted_cost_usd, unpriced_calls
from (
    select
        *,
        case $sort
            when 'started' then epoch(started_at)
            when 'seen' then epoch(coalesce(last_seen_at, ended_at, started_at))
            when 'duration' then epoch(coalesce(ended_at, last_seen_at)) - epoch(started_at)
            when 'steps' then steps::DOUBLE
            when 'streak' then longest_flat_streak::DOUBLE
            when 'repeats' then repeated_signature_rate
            when 'tokens' then tokens::DOUBLE
            when 'cost' then cost_usd
            when 'wasted_cost' then wasted_cost_usd
        end as figure
    from found_runs
) as found
order by
    case when $descending then figure end desc nulls last,
    case when not $descending then figure end asc nulls last,
    run_id
limit $limit
offset $offset;
