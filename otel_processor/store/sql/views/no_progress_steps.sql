-- Every flat step: a step with a tool call of which none brought anything new.
create or replace view no_progress_steps as
select
    c.run_id,
    r.task,
    c.step,
    max(c.flat_steps) as flat_streak,
    list(distinct c.tool) filter (c.tool is not null) as tools,
    min(c.started_at) as started_at,
    max(c.ended_at) as ended_at
from calls as c
left join run_rows as r on r.run_id = c.run_id
group by c.run_id, r.task, c.step
having bool_or(c.progress = false) and not coalesce(bool_or(c.progress), false);
