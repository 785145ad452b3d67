-- The longest streak of flat steps of each run, the longest first.
select run_id, task, agent, streak, last_step, ended_at, still_open
from flat_streaks
where $hours::BIGINT is null or ended_at >= now() - to_hours($hours::BIGINT)
qualify row_number() over (partition by run_id order by streak desc, ended_at desc, agent) = 1
order by streak desc, ended_at desc, run_id
limit $limit;
