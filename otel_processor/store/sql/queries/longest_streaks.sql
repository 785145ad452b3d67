-- The chosen runs that stood still longest, each with its longest streak of flat steps. Only their calls are looked at.
with longest as (
    select run_id, longest_flat_streak
    from chosen_runs
    where longest_flat_streak > 0
    order by longest_flat_streak desc, coalesce(last_seen_at, ended_at) desc, run_id
    limit $limit
)
select s.run_id, s.task, s.agent, s.streak, s.last_step, s.ended_at, s.still_open
from flat_streaks as s
where s.run_id in (select run_id from longest)
qualify row_number() over (partition by s.run_id order by s.streak desc, s.ended_at desc, s.agent) = 1
order by s.streak desc, s.ended_at desc, s.run_id;
