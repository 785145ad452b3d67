-- Every streak of flat steps, per run and agent, with where it began and how long it grew.
-- Which steps are flat was decided in Python (calls.flat_steps counts within a streak); this only finds each streak's last row.
create or replace view flat_streaks as
with counted as (
    select
        run_id, agent, step, flat_steps, started_at, ended_at,
        lead(flat_steps) over (partition by run_id, coalesce(agent, '') order by end_unix_nano, span_id) as next_flat_steps
    from calls
    where kind = 'tool'
)
select
    c.run_id,
    r.task,
    c.agent,
    c.flat_steps as streak,
    c.step as last_step,
    c.ended_at,
    (c.next_flat_steps is null and r.ended_at is null) as still_open
from counted as c
left join run_rows as r on r.run_id = c.run_id
where c.flat_steps > 0 and (c.next_flat_steps is null or c.next_flat_steps < c.flat_steps);
