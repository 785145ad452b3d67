-- The runs that were seen last, the latest first.
select
    run_id, task, agent, service, started_at, ended_at, last_seen_at, steps, tool_calls, longest_flat_streak,
    tokens, wasted_tokens, stop_reason, flagged_reason, status
from runs
where $hours::BIGINT is null or coalesce(last_seen_at, ended_at, started_at) >= now() - to_hours($hours::BIGINT)
order by coalesce(last_seen_at, ended_at, started_at) desc nulls last, run_id
limit $limit;
