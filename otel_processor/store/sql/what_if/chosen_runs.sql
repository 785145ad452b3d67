-- The runs that were seen last, the latest first, and how many there are that were asked for.
select run_id, task, agent, epoch_us(started_at), count(*) over () as of_all
from run_rows
where ($task::VARCHAR is null or task = $task) and ($agent::VARCHAR is null or agent = $agent)
order by coalesce(last_seen_at, ended_at, started_at) desc nulls last, run_id
limit $at_most;
