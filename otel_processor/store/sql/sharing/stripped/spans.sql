select * replace (
    short_name(name) as name,
    removed(status_message)::VARCHAR as status_message,
    short_name(service) as service,
    short_name(scope) as scope,
    short_name(scope_version) as scope_version,
    removed(trace_state)::VARCHAR as trace_state,
    stripped_attributes(attributes) as attributes,
    stripped_events(events) as events,
    stripped_attributes(resource) as resource,
    stripped_links(links) as links,
    stripped_attributes(extra) as extra,
    stripped_cuts(cut) as cut,
    'off' as content
)
from given
