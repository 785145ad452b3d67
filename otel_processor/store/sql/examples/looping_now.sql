-- Which runs loop now?
select
    a.run_id, r.task, r.agent, a.pattern, a.action, a."at" as since, r.steps, r.longest_flat_streak, r.cost_usd, a.message
from alerts as a
join runs as r on r.run_id = a.run_id
where a.resolved_at is null and r.stop_reason = 'running'
order by a."at" desc
limit 100;
