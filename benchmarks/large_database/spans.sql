-- A span for each call and one for the agent of each run, in the order in which they ended.
insert into spans by name
with of_calls as (
    select
        c.trace_id,
        c.span_id,
        md5(c.trace_id || 'root')[:16] as parent_span_id,
        if(c.kind = 'tool', 'execute_tool ' || c.tool, 'chat ' || c.model) as name,
        epoch_us(c.started_at) * 1000 as start_unix_nano,
        c.end_unix_nano,
        if(c.is_error, 'ERROR', 'UNSET') as status,
        c.error_message as status_message,
        r.service,
        if(
            c.kind = 'tool',
            json_object(
                'gen_ai.operation.name', 'execute_tool', 'gen_ai.tool.name', c.tool, 'gen_ai.tool.call.id', c.call_id,
                'gen_ai.tool.call.arguments', c.arguments, 'gen_ai.tool.call.result', c.result, 'loop.signature', c.signature,
                'loop.step', c.step, 'loop.flat_steps', c.flat_steps
            ),
            json_object(
                'gen_ai.operation.name', 'chat', 'gen_ai.request.model', c.model, 'gen_ai.provider.name', c.provider,
                'gen_ai.usage.input_tokens', c.input_tokens, 'gen_ai.usage.output_tokens', c.output_tokens
            )
        ) as attributes
    from call_rows as c
    join made_runs as r on r.run_id = c.trace_id
),
of_agents as (
    select
        run_id as trace_id,
        md5(run_id || 'root')[:16] as span_id,
        null as parent_span_id,
        'invoke_agent ' || agent as name,
        start_us * 1000 as start_unix_nano,
        (start_us + (calls + 0.1) * pace_us)::BIGINT * 1000 as end_unix_nano,
        'UNSET' as status,
        null as status_message,
        service,
        json_object('gen_ai.operation.name', 'invoke_agent', 'gen_ai.agent.name', agent, 'loop.task', task) as attributes
    from made_runs
    where not is_running
)
select
    *,
    'INTERNAL' as kind,
    make_timestamptz(start_unix_nano // 1000) as start_time,
    make_timestamptz(end_unix_nano // 1000) as end_time,
    'benchmark' as scope,
    '[]'::JSON as events,
    json_object('service.name', service) as resource,
    make_timestamptz(end_unix_nano // 1000 + 600000) as received_at
from (from of_calls union all by name from of_agents)
order by end_unix_nano;
