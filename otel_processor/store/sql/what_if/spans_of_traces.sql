-- All spans of these traces; the times let the row groups of other times be left out.
select
    trace_id, span_id, parent_span_id, name, kind, start_unix_nano, end_unix_nano, status, status_message, service, scope,
    scope_version, trace_state, attributes, events, resource, links, extra, cut
from spans
where end_unix_nano between $first and $last
    and trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')));
