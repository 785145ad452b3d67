"""From the SDK's readable spans to span records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Link

from otel_processor.dialects.names import VALUE_LIMIT
from otel_processor.model import SpanEvent, SpanRecord


def record_of(span: ReadableSpan) -> SpanRecord:
    """Return a finished SDK span as a record."""
    context = span.context
    parent = span.parent
    scope = span.instrumentation_scope
    resource = span.resource.attributes if span.resource is not None else {}
    return SpanRecord(
        trace_id=f"{context.trace_id:032x}" if context is not None else "",
        span_id=f"{context.span_id:016x}" if context is not None else "",
        parent_span_id=f"{parent.span_id:016x}" if parent is not None and parent.span_id else None,
        name=str(span.name),
        kind=span.kind.name,
        start_ns=span.start_time or 0,
        end_ns=span.end_time or span.start_time or 0,
        status=span.status.status_code.name,
        status_message=span.status.description or "",
        service=str(resource.get("service.name") or ""),
        scope=scope.name if scope is not None else "",
        scope_version=(scope.version or "") if scope is not None else "",
        attributes=_plain(span._attributes),
        events=[SpanEvent(event.name, event.timestamp, _plain(event.attributes)) for event in span.events] if span.events else (),
        resource=_plain(resource),
        links=[_link(link) for link in span.links] if span.links else (),
        trace_state=context.trace_state.to_header() if context is not None and context.trace_state else "",
        parent_is_remote=bool(parent is not None and parent.is_remote),
        extra=_extra(span),
    )


def _plain(attributes: Mapping[str, Any] | None) -> Mapping[str, Any]:
    inner = getattr(attributes, "_dict", None)
    return inner if isinstance(inner, dict) else dict(attributes or {})


def _link(link: Link) -> dict[str, Any]:
    context = link.context
    return {
        "trace_id": f"{context.trace_id:032x}",
        "span_id": f"{context.span_id:016x}",
        "attributes": dict(link.attributes or {}),
    }


def _extra(span: ReadableSpan) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    for kind in ("attributes", "events", "links"):
        dropped = getattr(span, f"dropped_{kind}", 0)
        if dropped:
            extra[f"dropped_{kind}_count"] = dropped
    limit = getattr(span._attributes, "max_value_len", None)
    if isinstance(limit, int):
        extra[VALUE_LIMIT] = limit
    return extra
