"""OTLP/protobuf requests as span records, the same ones that `otlp_request` makes of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_processor.errors import TelemetryFormatError
from otel_processor.ingest.origin import Origin, Tally, link_of, origin_of, says_remote
from otel_processor.ingest.otlp_values import KINDS, STATUSES, nanoseconds
from otel_processor.model import SpanEvent, SpanRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs, ScopeLogs
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8

_DROPPED: Final = ("dropped_attributes_count", "dropped_events_count", "dropped_links_count")


def spans_of_body(body: bytes, tally: Tally) -> Iterator[SpanRecord]:
    """Read one request, as it comes over the network.

    Raises:
        TelemetryFormatError: it is no ExportTraceServiceRequest.
    """
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise TelemetryFormatError("the body is no ExportTraceServiceRequest in protobuf") from None
    return spans_of_message(request, tally)


def spans_of_message(request: ExportTraceServiceRequest, tally: Tally | None = None) -> Iterator[SpanRecord]:
    """The spans of one ExportTraceServiceRequest; what has no usable ids or no beginning is counted and left out."""
    tally = Tally() if tally is None else tally
    for resource_spans in request.resource_spans:
        for scope_spans in resource_spans.scope_spans:
            shared = origin(resource_spans, scope_spans)
            for message in scope_spans.spans:
                span = _span(message, shared)
                if span is None:
                    tally.malformed_spans += 1
                else:
                    tally.spans += 1
                    yield span


def origin(resource_spans: ResourceSpans | ResourceLogs, scope_spans: ScopeSpans | ScopeLogs) -> Origin:
    """What all spans, or log records, of a scope share."""
    resource = resource_spans.resource
    scope = scope_spans.scope
    return origin_of(
        resource=attributes(resource.attributes),
        resource_dropped=resource.dropped_attributes_count,
        resource_schema=resource_spans.schema_url,
        entity_refs=_entity_refs(resource),
        scope=scope.name,
        scope_version=scope.version,
        scope_attributes=attributes(scope.attributes),
        scope_dropped=scope.dropped_attributes_count,
        schema=scope_spans.schema_url,
    )


def _entity_refs(resource: Resource) -> list[dict[str, Any]]:
    # Senders, and the package of messages itself, may be older than this field.
    return [
        {
            name: list(said) if name.endswith("_keys") else said
            for name in ("schema_url", "type", "id_keys", "description_keys")
            if (said := getattr(ref, name))
        }
        for ref in getattr(resource, "entity_refs", ())
    ]


def _span(message: Span, origin: Origin) -> SpanRecord | None:
    trace_id = hex_id(message.trace_id, TRACE_ID_BYTES)
    span_id = hex_id(message.span_id, SPAN_ID_BYTES)
    start_ns = nanoseconds(message.start_time_unix_nano)
    if trace_id is None or span_id is None or not start_ns:
        return None
    status = message.status
    flags = message.flags
    return SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=hex_id(message.parent_span_id, SPAN_ID_BYTES),
        name=message.name,
        kind=_enum_name(message.kind, KINDS),
        start_ns=start_ns,
        # A span that was sent before it ended has no end: it then lasted no time.
        end_ns=nanoseconds(message.end_time_unix_nano) or start_ns,
        status=_enum_name(status.code, STATUSES),
        status_message=status.message,
        service=origin.service,
        scope=origin.scope,
        scope_version=origin.scope_version,
        attributes=attributes(message.attributes),
        events=_events(message, start_ns) if message.events else (),
        resource=origin.resource,
        links=_links(message) if message.links else (),
        trace_state=message.trace_state,
        parent_is_remote=says_remote(flags),
        extra=_extra(message, origin.extra, flags),
    )


def _events(message: Span, start_ns: int) -> tuple[SpanEvent, ...]:
    return tuple(
        SpanEvent(
            event.name,
            nanoseconds(event.time_unix_nano) or start_ns,
            attributes(event.attributes),
            event.dropped_attributes_count,
        )
        for event in message.events
    )


def _links(message: Span) -> tuple[Mapping[str, Any], ...]:
    links = []
    for link in message.links:
        trace_id = hex_id(link.trace_id, TRACE_ID_BYTES)
        span_id = hex_id(link.span_id, SPAN_ID_BYTES)
        if trace_id is None or span_id is None:
            continue
        said = attributes(link.attributes)
        links.append(link_of(trace_id, span_id, said, link.trace_state, link.dropped_attributes_count, link.flags))
    return tuple(links)


def _extra(message: Span, shared: Mapping[str, Any], flags: int) -> Mapping[str, Any]:
    own: dict[str, Any] = {name: dropped for name in _DROPPED if (dropped := getattr(message, name))}
    if flags:
        own["flags"] = flags
    return {**shared, **own} if own else shared


def attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    """Key-value pairs as a dict."""
    return {pair.key: any_value(pair.value) for pair in pairs}


def any_value(value: AnyValue) -> Any:
    """An AnyValue as a Python value; None for an empty one."""
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return value.string_value
    if kind is None:
        return None
    if kind == "array_value":
        return [any_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return attributes(value.kvlist_value.values)
    return getattr(value, kind) if kind in _PLAIN else None


_PLAIN: Final = frozenset({"bool_value", "int_value", "double_value", "bytes_value"})


def hex_id(raw: bytes, size: int) -> str | None:
    """An id in lower-case hex; None when it has another size or is all zero."""
    return raw.hex() if len(raw) == size and any(raw) else None


def _enum_name(number: int, options: tuple[str, ...]) -> str:
    """The short name of an enum value; the first option when unknown."""
    return options[number] if 0 <= number < len(options) else options[0]
