-- The chosen runs that stood still longest, each with its longest streak of flat steps. Only their calls are looked at: the view
-- `flat_streaks` would go through all calls before it left out any.
with longest as (
    select run_id, task, ended_at
    from chosen_runs
    where longest_flat_streak > 0
    order by longest_flat_streak desc, coalesce(last_seen_at, ended_at) desc, run_id
    limit $limit
),
traces as (
    select trace_id from trace_runs where run_id in (select run_id from longest)
    union
    select trace_id from call_rows where declared_run_id in (select run_id from longest)
),
told as (
    select
        run_id, agent, flat_steps, step, ended_at,
        lead(flat_steps) over (partition by run_id, coalesce(agent, '') order by end_unix_nano, span_id) as next_flat_steps
    from calls
    where kind = 'tool' and trace_id in (select trace_id from traces) and run_id in (select run_id from longest)
)
select
    t.run_id,
    l.task,
    t.agent,
    t.flat_steps as streak,
    t.step as last_step,
    t.ended_at,
    (t.next_flat_steps is null and l.ended_at is null) as still_open
from told as t
join longest as l on l.run_id = t.run_id
where t.flat_steps > 0
qualify row_number() over (partition by t.run_id order by t.flat_steps desc, t.ended_at desc, t.agent) = 1
order by streak desc, t.ended_at desc, t.run_id;
