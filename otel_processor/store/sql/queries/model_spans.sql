-- The spans of the model calls of one step as they were received, and those directly below: what the model said stands on one of them.
-- Where that is longer than $longest characters it is left out.
with model_calls as (
    select trace_id, span_id
    from calls_of_run
    where step = $step and kind = 'model'
    limit $limit
)
select
    m.span_id as of_span_id, s.span_id, s.name as span_name, s.scope, s.status, s.status_message,
    case when length(s.attributes) <= $longest::BIGINT then s.attributes::VARCHAR end as attributes,
    case when length(s.events) <= $longest::BIGINT then s.events::VARCHAR end as events
from spans as s
join model_calls as m on m.trace_id = s.trace_id and (m.span_id = s.span_id or m.span_id = s.parent_span_id)
order by m.span_id, s.span_id <> m.span_id, s.end_unix_nano, s.span_id
limit $limit;
