-- One page of the chosen runs that a search leaves, sorted by one of their figures; the runs without it come last. $patterns, $reasons: a
-- JSON list or NULL; a pattern is that of an alert or the reason that a run was flagged with.
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
    from chosen_runs
    where (
            $search::VARCHAR is null
            or contains(lower(coalesce(task, '')), lower($search::VARCHAR))
            or contains(lower(coalesce(agent, '')), lower($search::VARCHAR))
            or contains(lower(coalesce(service, '')), lower($search::VARCHAR))
            or contains(lower(run_id), lower($search::VARCHAR))
        )
        and case $status::VARCHAR
            when 'running' then status = 'running'
            when 'ended' then status <> 'running'
            when 'looped' then flagged_reason is not null
            else true
        end
        and ($reasons::VARCHAR is null or list_contains(from_json($reasons::JSON, '["VARCHAR"]'), stop_reason))
        and (
            $patterns::VARCHAR is null
            or list_contains(from_json($patterns::JSON, '["VARCHAR"]'), flagged_reason)
            or run_id in (
                select a.run_id from alerts as a where list_contains(from_json($patterns::JSON, '["VARCHAR"]'), a.pattern)
            )
        )
) as found
order by
    case when $descending then figure end desc nulls last,
    case when not $descending then figure end asc nulls last,
    run_id
limit $limit
offset $offset;
