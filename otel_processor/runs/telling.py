"""What spans tell of calls that other spans stand for, and what becomes of a call that was told of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from otel_processor.detection.fingerprint import result_text
from otel_processor.dialects.reader import told_by
from otel_processor.model import Reading, Role, SpanRecord, Told
from otel_processor.runs.records import KeptEvidence, ReadSpan

TOLD = "otel_processor.told"
"""Name under which a span's `extra` keeps what it told before its values were cut."""

RESULT_CHARS = 65_536
"""Characters of a told result that are kept so; one that was longer compares to nothing."""

_ALL_CHARS = 1 << 20
"""Characters of all results together that one span tells so."""


def told_of(item: ReadSpan) -> tuple[Told, ...]:
    """Return what a span tells, or else another span of the same call."""
    for each in (item, *item.others):
        try:
            told = _kept(each.span.extra[TOLD]) if TOLD in each.span.extra else told_by(each.span)
        except Exception:  # noqa: BLE001 - what a malformed span tells is lost, the span is not
            told = ()
        if told:
            return told
    return ()


def with_told(span: SpanRecord) -> SpanRecord:
    """Return a span whose values are cut with what it tells, if anything, in its `extra`."""
    room = _ALL_CHARS
    kept = []
    for told in told_by(span):
        text = told.result if told.result is None or isinstance(told.result, str) else result_text(told.result)
        values = asdict(replace(told, result=None if text is None else text[: min(RESULT_CHARS, room)]))
        room -= len(values["result"] or "")
        kept.append({name: value for name, value in values.items() if value not in (None, False)})
        if room <= 0:
            break
    return replace(span, extra={**span.extra, TOLD: kept}) if kept else span


def _kept(values: Iterable[Mapping[str, Any]]) -> tuple[Told, ...]:
    return tuple(Told(**told) for told in values)


def filled(item: ReadSpan, told: Told) -> ReadSpan:
    """Return a call with what only the telling says of it; a failure that is told makes it one that failed."""
    reading, kept, was_cut = item.reading, item.kept, item.result_was_cut
    more: dict[str, Any] = {}
    if reading.result is None and told.result is not None:
        more["result"] = told.result
        was_cut = isinstance(told.result, str) and len(told.result) >= RESULT_CHARS
        kept = kept and KeptEvidence(kept.signature, None)
    if reading.arguments is None and told.arguments is not None:
        more["arguments"] = told.arguments
        kept = kept and KeptEvidence(None, kept.evidence)
    if told.is_error and not reading.is_error:
        more["is_error"] = True
    if (told.is_error or reading.is_error) and reading.error_message is None and told.error_message is not None:
        more["error_message"] = told.error_message
    return replace(item, reading=replace(reading, **more), kept=kept, result_was_cut=was_cut) if more else item


def with_arguments(item: ReadSpan, arguments: Any) -> ReadSpan:
    """Return a call with the arguments that its model asked for, where it does not say them itself."""
    if item.reading.arguments is not None or arguments is None:
        return item
    return replace(item, reading=replace(item.reading, arguments=arguments))


def made_here(item: ReadSpan, told: Told, number: int) -> ReadSpan:
    """Return one of the calls that a span made which is no call itself, as a span below it."""
    span = item.span
    return ReadSpan(
        replace(span, span_id=f"{span.span_id}#{number}", parent_span_id=span.span_id, parent_is_remote=False),
        Reading(
            role=Role.TOOL,
            dialect=item.reading.dialect,
            tool=told.tool,
            call_id=told.call_id,
            arguments=told.arguments,
            result=told.result,
            is_error=told.is_error,
            error_message=told.error_message,
        ),
        result_was_cut=isinstance(told.result, str) and len(told.result) >= RESULT_CHARS,
    )
