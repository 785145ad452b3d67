-- For each tool call of one step: the earlier calls of the same tool by the same agent, at most $per_call, those with the same arguments
-- first and the latest first among them.
with tool_calls as (
    select
        trace_id, span_id, step, coalesce(agent, '') as agent, tool, signature, fingerprint, flat_steps, is_error,
        (end_unix_nano, span_id) as place
    from calls_of_run
    where kind = 'tool' and step <= $step
),
own as (
    select
        t.*,
        -- Where the streak of flat calls that the call stands in set out from.
        (select max(f.place) from tool_calls as f where f.agent = t.agent and f.flat_steps = 0 and f.place < t.place) as set_out
    from tool_calls as t
    where t.step = $step
),
ranked as (
    select
        o.trace_id as of_trace_id,
        o.span_id as of_span_id,
        e.trace_id,
        e.span_id,
        e.step,
        e.signature = o.signature as same_arguments,
        e.fingerprint = o.fingerprint as same_result,
        o.flat_steps > 0 and (o.set_out is null or e.place >= o.set_out) as in_streak,
        e.is_error,
        row_number() over (
            partition by o.trace_id, o.span_id
            order by coalesce(e.signature = o.signature, false) desc, e.place desc
        ) as rank
    from own as o
    join tool_calls as e on e.agent = o.agent and e.tool is not distinct from o.tool and e.place < o.place
)
select of_trace_id, of_span_id, trace_id, span_id, step, same_arguments, same_result, in_streak, is_error
from ranked
where rank <= $per_call
order by of_span_id, rank
limit $limit;
