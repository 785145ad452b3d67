-- Which tasks and agents call one tool in the chosen runs, and how that comes out; those that call it most first, at most $limit.
select
    r.task,
    coalesce(c.agent, r.agent) as agent,
    count(*) as calls,
    count(distinct r.run_id) as runs,
    count(*) filter (c.is_error or c.error_class is not null) as failed_calls,
    count(c.progress) as known_calls,
    count(*) filter (not c.progress) as flat_calls
from calls as c
join chosen_runs as r on r.run_id = c.run_id
where c.kind = 'tool' and coalesce(c.tool, '') = $tool
group by r.task, coalesce(c.agent, r.agent)
order by calls desc, r.task, agent
limit $limit;
