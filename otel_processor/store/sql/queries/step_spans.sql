-- The spans of one step as they were received: those of its calls and those directly below, long values cut at $longest characters.
with step_calls as (
    select trace_id, span_id
    from calls_of_run
    where step = $step
)
select
    s.trace_id, s.span_id, s.parent_span_id, s.name as span_name, s.kind, s.start_time, s.end_time, s.status, s.status_message,
    s.service as span_service, s.scope, s.scope_version,
    left(s.attributes::VARCHAR, $longest::BIGINT) as attributes, length(s.attributes::VARCHAR) as attributes_length,
    left(s.events::VARCHAR, $longest::BIGINT) as events, length(s.events::VARCHAR) as events_length,
    left(s.resource::VARCHAR, $longest::BIGINT) as resource, length(s.resource::VARCHAR) as resource_length
from spans as s
where s.trace_id in (select trace_id from step_calls)
    and (
        s.span_id in (select span_id from step_calls)
        or s.parent_span_id in (select span_id from step_calls)
    )
order by s.start_unix_nano, s.span_id
limit $limit;
