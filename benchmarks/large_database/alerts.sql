-- An alert at the third flat step of runs that went in circles: $alerts of them, those that are still open first.
insert into alerts by name
with told as (
    select
        r.*,
        c.span_id,
        c.tool,
        c.ended_at,
        row_number() over (order by r.is_running desc, chance(r.number, 'told')) as place
    from made_runs as r
    join call_rows as c on c.trace_id = r.run_id and c.kind = 'tool' and c.flat_steps = 3 and c.step = r.loop_from + 3
    where r.kind <> 'healthy'
)
select
    md5('alert' || number) as alert_id,
    run_id,
    run_id as trace_id,
    span_id,
    ended_at as "at",
    task,
    agent,
    tool,
    if(loop_fails, 'retry_storm', ['hard_loop', 'hard_loop', 'soft_loop', 'cycle', 'no_progress', 'semantic_loop']
        [1 + (hash(number, 'loop') % 6)::INTEGER]) as pattern,
    if(kind = 'stuck', 'critical', 'warning') as severity,
    if(kind = 'stuck', 'stop', 'nudge') as action,
    if(kind = 'stuck', if(loop_fails, 'loop_detected:retry_storm', 'loop_detected:repeated_tool_signature'), null) as stop_reason,
    tool || ' was called 4 times with the same arguments and nothing changed' as message,
    json_object('tool', tool, 'times', 4) as evidence,
    if(is_running and place <= $open::BIGINT, null,
        least(make_timestamptz((start_us + (2 * loop_to + 1) * pace_us)::BIGINT), now())) as resolved_at
from told
where place <= $alerts::BIGINT;
