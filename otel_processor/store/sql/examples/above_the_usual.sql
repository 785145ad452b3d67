-- Which runs took more steps than 95 % of their task's?
with usual as (
    select task, count(*) as runs, quantile_cont(steps, 0.95) as p95_steps, quantile_cont(cost_usd, 0.95) as p95_cost_usd
    from runs
    where stop_reason <> 'running'
    group by task
)
select r.run_id, r.task, r.steps, u.p95_steps, r.cost_usd, u.p95_cost_usd, u.runs as runs_of_the_task, r.stop_reason, r.started_at
from runs as r
join usual as u on u.task is not distinct from r.task
where r.steps > u.p95_steps
order by r.steps / nullif(u.p95_steps, 0) desc nulls last
limit 100;
