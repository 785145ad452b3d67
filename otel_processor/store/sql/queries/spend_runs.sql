-- The chosen runs that spent most by $measure ('cost' or 'tokens'), at most $limit. Where models are chosen, runs that called one of
-- them, each with all that it spent.
select
    run_id,
    task,
    agent,
    started_at,
    steps,
    tokens,
    wasted_tokens,
    cost_usd,
    wasted_cost_usd,
    unpriced_calls,
    stop_reason,
    flagged_reason
from chosen_runs
where case when $measure = 'cost' then cost_usd is not null else tokens is not null end
order by case when $measure = 'cost' then cost_usd else tokens end desc, run_id
limit $limit;
