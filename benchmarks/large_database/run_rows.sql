-- The runs as they were decided.
insert into run_rows by name
select
    run_id,
    task,
    task_type,
    agent,
    service,
    make_timestamptz(start_us) as started_at,
    if(is_running, null, make_timestamptz((start_us + (calls + 0.1) * pace_us)::BIGINT)) as ended_at,
    make_timestamptz((start_us + if(is_running, calls - 0.1, calls + 0.1) * pace_us)::BIGINT) as last_seen_at,
    case
        when is_running then 'running'
        when kind = 'stuck' then loop_reason
        when chance(number, 'end') < 0.88 then 'completed'
        else ['max_steps_reached', 'timeout', 'error', 'cancelled', 'model_length', 'abandoned', 'handed_to_human', 'refused']
            [1 + (hash(number, 'why') % 8)::INTEGER]
    end as stop_reason,
    if(kind = 'healthy', null, loop_reason) as flagged_reason,
    $policy_hash as policy_hash,
    case
        when is_running then 'running'
        when kind = 'stuck' or (chance(number, 'end') >= 0.88 and hash(number, 'why') % 8 = 2) then 'error'
        when chance(number, 'end') >= 0.88 and hash(number, 'why') % 8 = 5 then 'abandoned'
        else 'ok'
    end as status,
    if(is_running, 'abandoned', null) as idle_reason
from (
    select
        *,
        if(loop_fails, 'loop_detected:retry_storm', 'loop_detected:' || ['repeated_tool_signature', 'repeated_tool_signature',
            'near_repeat', 'cycle', 'no_progress', 'semantic'][1 + (hash(number, 'loop') % 6)::INTEGER]) as loop_reason
    from made_runs
);
