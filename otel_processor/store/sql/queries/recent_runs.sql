-- The chosen runs that were seen last, the latest first.
select
    run_id, task, agent, service, started_at, ended_at, last_seen_at, steps, tool_calls, longest_flat_streak,
    tokens, wasted_tokens, cost_usd, stop_reason, flagged_reason, status
from chosen_runs
order by coalesce(last_seen_at, ended_at, started_at) desc nulls last, run_id
limit $limit;
