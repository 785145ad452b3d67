"""Spans to rows of the table `spans`, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from otel_processor.model import SpanEvent, SpanRecord
from otel_processor.recording.bounds import MAX_SPAN_CHARS, Cuts, bound_attributes, json_text
from otel_processor.store.columns import SPANS, Columns

_MAX_NS = (1 << 63) - 1
_MAX_NAME_CHARS = 1_024
_MAX_MESSAGE_CHARS = 16_384
_MAX_EVENTS = 1_000


def append_row(
    columns: Columns, span: SpanRecord, received_ns: int, notes: Cuts | None = None, blobs: list[bytes] | None = None
) -> int:
    """Append a span to the columns and return how many of its values were cut.

    Args:
        columns: of the table `spans`.
        span: what is to be stored of it.
        received_ns: when it came, nanoseconds since the epoch.
        notes: what was altered before, by path; noted beside what is cut.
        blobs: gets the bytes that the span holds.
    """
    cuts: Cuts = dict(notes or ())
    attributes = bound_attributes(span.attributes, "attributes", cuts, blobs)
    events = _events(span.events, cuts, blobs) if span.events else "[]"
    extra = dict(span.extra)
    if span.parent_is_remote:
        extra["parent_is_remote"] = True
    row = {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_span_id": span.parent_span_id,
        "name": span.name[:_MAX_NAME_CHARS],
        "kind": span.kind,
        "start_unix_nano": _nanoseconds(span.start_ns),
        "end_unix_nano": _nanoseconds(span.end_ns),
        "status": span.status,
        "status_message": span.status_message[:_MAX_MESSAGE_CHARS] or None,
        "service": span.service[:_MAX_NAME_CHARS],
        "scope": span.scope[:_MAX_NAME_CHARS],
        "scope_version": span.scope_version[:_MAX_NAME_CHARS] or None,
        "trace_state": span.trace_state[:_MAX_NAME_CHARS] or None,
        "attributes": attributes,
        "events": events,
        "resource": bound_attributes(span.resource, "resource", cuts, blobs),
        "links": _links(span.links, cuts, blobs) if span.links else "[]",
        "extra": bound_attributes(extra, "extra", cuts, blobs) if extra else None,
        "cut": json_text(cuts) if cuts else None,
        "content": None,
        "received_ns": received_ns,
    }
    for name, values in columns.items():
        values.append(row[name])
    return sum("redacted" not in cut or "length" in cut for cut in cuts.values())


def remove_last(columns: Columns) -> None:
    """Take the row that was appended last out again."""
    for values in columns.values():
        values.pop()


def spans_of_columns(columns: Columns) -> Iterable[SpanRecord]:
    """Yield the spans that the columns hold."""
    names = [name for name in SPANS.given if name in columns]
    for values in zip(*(columns[name] for name in names), strict=True):
        yield span_of_row(dict(zip(names, values, strict=True)))


def span_of_row(row: Mapping[str, Any]) -> SpanRecord:
    """Return the span that a row of `spans` holds."""
    extra = _parsed(row["extra"], {})
    return SpanRecord(
        trace_id=row["trace_id"],
        span_id=row["span_id"],
        parent_span_id=row["parent_span_id"],
        name=row["name"],
        kind=row["kind"],
        start_ns=row["start_unix_nano"],
        end_ns=row["end_unix_nano"],
        status=row["status"],
        status_message=row["status_message"] or "",
        service=row["service"] or "",
        scope=row["scope"] or "",
        scope_version=row["scope_version"] or "",
        trace_state=row["trace_state"] or "",
        attributes=_parsed(row["attributes"], {}),
        events=[
            SpanEvent(e["name"], e["time_unix_nano"], e["attributes"], e.get("dropped_attributes_count", 0))
            for e in _parsed(row["events"], [])
            if "name" in e
        ],
        resource=_parsed(row["resource"], {}),
        links=_parsed(row["links"], []),
        parent_is_remote=bool(extra.get("parent_is_remote")),
        extra=extra,
    )


def _events(events: Sequence[SpanEvent], cuts: Cuts, blobs: list[bytes] | None) -> str:
    def written() -> Iterator[str]:
        for index, event in enumerate(events):
            attributes = bound_attributes(event.attributes, f"events.{index}", cuts, blobs)
            told: dict[str, Any] = {"name": event.name[:_MAX_NAME_CHARS], "time_unix_nano": _nanoseconds(event.time_ns)}
            if event.dropped_attributes:
                told["dropped_attributes_count"] = event.dropped_attributes
            head = json_text(told)
            yield f'{head[:-1]},"attributes":{attributes}}}'

    return _bounded_list(written(), len(events), "events", cuts)


def _links(links: Sequence[Mapping[str, Any]], cuts: Cuts, blobs: list[bytes] | None) -> str:
    written = (bound_attributes(link, f"links.{index}", cuts, blobs) for index, link in enumerate(links))
    return _bounded_list(written, len(links), "links", cuts)


def _bounded_list(written: Iterator[str], size: int, where: str, cuts: Cuts) -> str:
    """Return JSON texts as a list: at most 1,000 of them, and no more together than a span may have of anything."""
    kept: list[str] = []
    used = 0
    for text in written:
        used += len(text)
        if len(kept) == _MAX_EVENTS or used > MAX_SPAN_CHARS:
            cuts[where] = {"kept": len(kept), "of": size}
            break
        kept.append(text)
    return f"[{','.join(kept)}]"


def _nanoseconds(value: int) -> int:
    return min(max(value, 0), _MAX_NS)


def _parsed(text: str | None, otherwise: Any) -> Any:
    if not text:
        return otherwise
    try:
        return orjson.loads(text)
    except ValueError:
        return otherwise
