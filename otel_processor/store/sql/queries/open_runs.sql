-- The chosen runs that are open, what looks worst first: those seen lately before silent ones, then by open alert, streak and
-- spend rate. Rates are per minute over the last $minutes or, of a younger run, over its age; in each row also what all add up to.
with open_runs as (
    select *, coalesce(last_seen_at < now() - to_seconds($silent_seconds), false) as is_silent
    from chosen_runs
    where status = 'running'
),
alerted as (
    -- Of a run that is open often only its calls are known: what it is for stands on its root, which ends last. Alerts know it before.
    select
        run_id,
        count(*) filter (resolved_at is null) as open_alerts,
        any_value(task order by "at") as task,
        any_value(agent order by "at") as agent
    from alerts
    where run_id in (select o.run_id from open_runs as o)
    group by run_id
),
lately as (
    select
        run_id,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) filter (coalesce(input_tokens, output_tokens) is not null)
            as tokens,
        sum(cost_usd) as cost_usd
    from calls
    where kind = 'model'
        and end_unix_nano >= epoch_ns(now()) - $minutes * 60000000000
        and run_id in (select o.run_id from open_runs as o)
    group by run_id
),
rated as (
    select
        o.* replace (coalesce(o.task, a.task) as task, coalesce(o.agent, a.agent) as agent),
        coalesce(a.open_alerts, 0) as open_alerts,
        l.tokens / least($minutes, greatest(1, date_diff('second', o.started_at, now()) / 60)) as tokens_per_minute,
        l.cost_usd / least($minutes, greatest(1, date_diff('second', o.started_at, now()) / 60)) as cost_per_minute
    from open_runs as o
    left join alerted as a on a.run_id = o.run_id
    left join lately as l on l.run_id = o.run_id
)
select
    run_id,
    task,
    agent,
    open_alerts,
    flagged_reason,
    open_flat_streak,
    steps,
    last_tool as tool,
    started_at,
    last_seen_at,
    is_silent,
    tokens,
    cost_usd,
    tokens_per_minute,
    cost_per_minute,
    count(*) over () as runs,
    count(*) filter (is_silent) over () as silent_runs,
    sum(tokens_per_minute) over () as all_tokens_per_minute,
    sum(cost_per_minute) over () as all_cost_per_minute
from rated
order by
    is_silent,
    open_alerts > 0 desc,
    open_flat_streak desc nulls last,
    cost_per_minute desc nulls last,
    tokens_per_minute desc nulls last,
    last_seen_at desc nulls last,
    run_id
limit $limit;
