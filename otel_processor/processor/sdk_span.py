"""The one place that touches private names of the OpenTelemetry SDK.

On `end()` the SDK makes a span's attributes immutable, then calls `_on_ending`, then `on_end` with a readable copy that
shares the attributes. Writing to the shared mapping there is the only way to make a tag visible to every exporter,
whatever the order of processors. Held by a test against the oldest and the newest SDK that is supported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan, SpanProcessor
from opentelemetry.trace import StatusCode

_ERROR, _OK = StatusCode.ERROR, StatusCode.OK

SDK_CALLS_ON_ENDING = hasattr(SpanProcessor, "_on_ending")
"""Older SDKs do not: there the tags are written in `on_end`, where only later processors see them."""


class SpanView:
    """An SDK span as a dialect reads it, without a copy."""

    __slots__ = ("attributes", "events", "name", "scope", "status", "status_message")

    def __init__(self, span: ReadableSpan) -> None:
        scope = span.instrumentation_scope
        self.name: str = span.name
        self.scope: str = scope.name if scope is not None else ""
        self.attributes: Mapping[str, Any] = raw_attributes(span)
        self.events: Sequence[Any] = span._events if len(span._events) else ()
        status = span.status
        self.status: str = "ERROR" if status.status_code is _ERROR else "OK" if status.status_code is _OK else "UNSET"
        self.status_message: str = status.description or ""


def raw_attributes(span: ReadableSpan) -> Mapping[str, Any]:
    """Return a span's attributes as a plain dict where the SDK lets us; its own mapping answers ten times slower."""
    attributes = span._attributes
    inner = getattr(attributes, "_dict", None)
    if isinstance(inner, dict):
        return inner
    return attributes if attributes is not None else {}


def value_length_limit(span: ReadableSpan) -> int | None:
    """Return the length at which the SDK cuts this span's text values, or None."""
    limit = getattr(span._attributes, "max_value_len", None)
    return limit if isinstance(limit, int) else None


def write_tags(span: ReadableSpan, tags: Mapping[str, Any]) -> bool:
    """Write attributes on a span that has ended; return whether every exporter will see them.

    Written past the SDK's limit of attributes on purpose: it would throw out the oldest, which say what the span is.
    """
    inner = getattr(span._attributes, "_dict", None)
    if not isinstance(inner, dict):
        return False
    inner.update(tags)
    return True


def write_event(span: ReadableSpan, name: str, attributes: Mapping[str, Any], time_ns: int) -> None:
    """Append an event to a span that has ended."""
    append = getattr(span._events, "append", None)
    if append is not None:
        append(Event(name, dict(attributes), time_ns))
