"""OTLP/JSON requests as span records: what is malformed is counted and skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_processor.ingest.origin import Origin, Tally, link_of, origin_of, says_remote
from otel_processor.ingest.otlp_values import KINDS, STATUSES, attributes_of, enum_name, field, hex_id, nanoseconds, whole_number
from otel_processor.model import SpanEvent, SpanRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def spans_of_request(request: Mapping[str, Any], tally: Tally | None = None) -> Iterator[SpanRecord]:
    """The spans of one ExportTraceServiceRequest."""
    tally = Tally() if tally is None else tally
    for resource_spans in messages(field(request, "resourceSpans", "resource_spans"), tally.skip_spans):
        for scope_spans in messages(field(resource_spans, "scopeSpans", "scope_spans"), tally.skip_spans):
            try:
                shared = origin(resource_spans, scope_spans)
            except RecursionError:
                tally.malformed_spans += _count(scope_spans.get("spans"))
                continue
            for message in messages(scope_spans.get("spans"), tally.skip_spans):
                span = _span(message, shared)
                if span is None:
                    tally.malformed_spans += 1
                else:
                    tally.spans += 1
                    yield span


def messages(values: Any, skip: Callable[[], object]) -> Iterator[dict[str, Any]]:
    """The objects of a list; anything else in their place is skipped, one by one."""
    if values is None:
        return
    if not isinstance(values, list):
        skip()
        return
    for value in values:
        if isinstance(value, dict):
            yield value
        else:
            skip()


def _count(values: Any) -> int:
    return len(values) if isinstance(values, list) else 1


def origin(resource_spans: Mapping[str, Any], scope_spans: Mapping[str, Any]) -> Origin:
    """What all spans, or log records, of a scope share."""
    resource = resource_spans.get("resource")
    resource = resource if isinstance(resource, dict) else {}
    scope = scope_spans.get("scope")
    scope = scope if isinstance(scope, dict) else {}
    return origin_of(
        resource=attributes_of(resource.get("attributes")),
        resource_dropped=_dropped(resource),
        resource_schema=text(field(resource_spans, "schemaUrl", "schema_url")),
        entity_refs=_entity_refs(field(resource, "entityRefs", "entity_refs")),
        scope=text(scope.get("name")),
        scope_version=text(scope.get("version")),
        scope_attributes=attributes_of(scope.get("attributes")),
        scope_dropped=_dropped(scope),
        schema=text(field(scope_spans, "schemaUrl", "schema_url")),
    )


def _dropped(message: Mapping[str, Any]) -> int:
    return whole_number(field(message, "droppedAttributesCount", "dropped_attributes_count"))


def _entity_refs(values: Any) -> list[dict[str, Any]]:
    """Which attributes of a resource name an entity, by the names of the schema."""
    refs = []
    for value in values if isinstance(values, list) else ():
        if not isinstance(value, dict):
            continue
        ref = {
            "schema_url": text(field(value, "schemaUrl", "schema_url")),
            "type": text(value.get("type")),
            "id_keys": _texts(field(value, "idKeys", "id_keys")),
            "description_keys": _texts(field(value, "descriptionKeys", "description_keys")),
        }
        refs.append({name: said for name, said in ref.items() if said})
    return refs


def _texts(values: Any) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _span(message: Mapping[str, Any], origin: Origin) -> SpanRecord | None:
    trace_id = hex_id(field(message, "traceId", "trace_id"), 16)
    span_id = hex_id(field(message, "spanId", "span_id"), 8)
    start_ns = nanoseconds(field(message, "startTimeUnixNano", "start_time_unix_nano"))
    if trace_id is None or span_id is None or not start_ns:
        return None
    try:
        return _record(message, origin, trace_id, span_id, start_ns)
    except RecursionError:
        return None


def _record(message: Mapping[str, Any], origin: Origin, trace_id: str, span_id: str, start_ns: int) -> SpanRecord:
    status = message.get("status")
    status = status if isinstance(status, dict) else {}
    flags = whole_number(message.get("flags"))
    return SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=hex_id(field(message, "parentSpanId", "parent_span_id"), 8),
        name=text(message.get("name")),
        kind=enum_name(message.get("kind"), KINDS, "SPAN_KIND_"),
        start_ns=start_ns,
        # A span that was sent before it ended has no end: it then lasted no time.
        end_ns=nanoseconds(field(message, "endTimeUnixNano", "end_time_unix_nano")) or start_ns,
        status=enum_name(status.get("code"), STATUSES, "STATUS_CODE_"),
        status_message=text(status.get("message")),
        service=origin.service,
        scope=origin.scope,
        scope_version=origin.scope_version,
        attributes=attributes_of(message.get("attributes")),
        events=_events(message.get("events"), start_ns),
        resource=origin.resource,
        links=_links(message.get("links")),
        trace_state=text(field(message, "traceState", "trace_state")),
        parent_is_remote=says_remote(flags),
        extra=_extra(message, origin.extra, flags),
    )


def text(value: Any) -> str:
    """A text, empty where it is none."""
    return value if isinstance(value, str) else ""


def _events(values: Any, start_ns: int) -> tuple[SpanEvent, ...]:
    if not isinstance(values, list) or not values:
        return ()
    return tuple(
        SpanEvent(
            name=text(value.get("name")),
            time_ns=nanoseconds(field(value, "timeUnixNano", "time_unix_nano")) or start_ns,
            attributes=attributes_of(value.get("attributes")),
            dropped_attributes=_dropped(value),
        )
        for value in values
        if isinstance(value, dict)
    )


def _links(values: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(values, list) or not values:
        return ()
    links = []
    for value in values:
        if not isinstance(value, dict):
            continue
        trace_id = hex_id(field(value, "traceId", "trace_id"), 16)
        span_id = hex_id(field(value, "spanId", "span_id"), 8)
        if trace_id is None or span_id is None:
            continue
        state = text(field(value, "traceState", "trace_state"))
        attributes = attributes_of(value.get("attributes"))
        links.append(link_of(trace_id, span_id, attributes, state, _dropped(value), whole_number(value.get("flags"))))
    return tuple(links)


_DROPPED: Final = (
    ("droppedAttributesCount", "dropped_attributes_count"),
    ("droppedEventsCount", "dropped_events_count"),
    ("droppedLinksCount", "dropped_links_count"),
)


def _extra(message: Mapping[str, Any], shared: Mapping[str, Any], flags: int) -> Mapping[str, Any]:
    own = {snake: dropped for name, snake in _DROPPED if (dropped := whole_number(field(message, name, snake)))}
    if flags:
        own["flags"] = flags
    return {**shared, **own} if own else shared
