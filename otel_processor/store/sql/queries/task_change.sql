-- What a run of each task takes now (median of the chosen runs) beside what it took before: the median of the task's runs that
-- began before the chosen ones, completed, and had no loop verdict. Tasks with fewer than $least such runs are left out; the task
-- whose cost (else tokens) grew most first.
with chosen as (
    select task, started_at, tokens, cost_usd, steps
    from chosen_runs
    where task is not null and status <> 'running'
),
present as (
    select
        task, count(*) as runs, min(started_at) as since,
        median(tokens) as tokens, median(cost_usd) as cost, median(steps) as steps
    from chosen
    group by task
),
earlier as (
    select
        r.task, count(*) as runs,
        median(r.tokens) as tokens, median(r.cost_usd) as cost, median(r.steps) as steps
    from runs as r
    join present as p on p.task = r.task
    where r.started_at < p.since and r.stop_reason = 'completed' and r.flagged_reason is null
    group by r.task
)
select
    p.task,
    p.runs,
    e.runs as runs_before,
    p.cost,
    e.cost as cost_before,
    p.tokens,
    e.tokens as tokens_before,
    p.steps,
    e.steps as steps_before,
    coalesce(p.cost / nullif(e.cost, 0), p.tokens / nullif(e.tokens, 0), p.steps / nullif(e.steps, 0)) as change
from present as p
join earlier as e on e.task = p.task
where e.runs >= $least
order by change desc nulls last, p.task
limit $limit;
