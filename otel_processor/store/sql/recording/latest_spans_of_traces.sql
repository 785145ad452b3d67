-- The latest spans of these traces that ended before a moment.
select
    trace_id, span_id, parent_span_id, name, kind, start_unix_nano, end_unix_nano, status, status_message, service, scope,
    scope_version, trace_state, attributes, events, resource, links, extra, cut, content
from spans
where trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]'))) and end_unix_nano < $before_ns
order by end_unix_nano desc, span_id desc
limit $at_most;
