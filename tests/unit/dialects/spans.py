"""Small hand-made spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from otel_processor.dialects import read_span
from otel_processor.model import Reading, SpanEvent, SpanRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def span(
    attributes: Mapping[str, Any] | None = None,
    *,
    name: str = "operation",
    scope: str = "test",
    status: str = "UNSET",
    status_message: str = "",
    events: Sequence[SpanEvent] = (),
) -> SpanRecord:
    return SpanRecord(
        trace_id="a" * 32,
        span_id="b" * 16,
        parent_span_id=None,
        name=name,
        kind="INTERNAL",
        start_ns=1,
        end_ns=2,
        status=status,
        status_message=status_message,
        service="s",
        scope=scope,
        scope_version="",
        attributes=attributes or {},
        events=events,
        resource={},
        links=(),
    )


def read(attributes: Mapping[str, Any] | None = None, **span_fields: Any) -> Reading:
    return read_span(span(attributes, **span_fields))


def event(event_name: str, /, **attributes: Any) -> SpanEvent:
    return SpanEvent(event_name, 1, {key.replace("__", "."): value for key, value in attributes.items()})


def exception(kind: str, message: str) -> SpanEvent:
    return event("exception", exception__type=kind, exception__message=message)
