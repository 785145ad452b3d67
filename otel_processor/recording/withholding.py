"""What is made of a span before it is stored: its secrets or its content are left out, what it was compared by is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from otel_processor.detection.evidence import make_call
from otel_processor.dialects.names import VALUE_LIMIT
from otel_processor.dialects.reader import told_by
from otel_processor.dialects.stops import stop_by_failure
from otel_processor.model import Call, Reading, ResultEvidence, Role, SpanRecord, Told
from otel_processor.policy import Policy
from otel_processor.privacy.redactor import Redactor
from otel_processor.recording import altering
from otel_processor.recording.bounds import Cuts
from otel_processor.recording.reading_rows import (
    READING,
    REQUESTED,
    reading_values,
    signature_of,
    told_without_content,
    whole,
    without_content,
)
from otel_processor.runs.records import KeptEvidence, ReadSpan
from otel_processor.runs.run_facts import STOP
from otel_processor.runs.telling import with_these_told
from otel_processor.store.columns import Columns

OFF, REDACTED = "off", "redacted"
"""What `content` says of a row: nothing that was said is kept; secrets were taken out."""

_OWN = ("attributes", "events", "links", "name", "status_message", "trace_state")
_SHARED = ("resource", "extra", "service", "scope", "scope_version")
"""What a span has in common with others of its batch, most of the time."""


class Altered(NamedTuple):
    """A span as it may be stored."""

    span: SpanRecord
    notes: Cuts
    content: str
    kept: KeptEvidence | None
    """What a tool call was compared by."""


def may_hold_secrets(columns: Columns, redactor: Redactor, blobs: Sequence[bytes] = ()) -> bool:
    """Return whether the row that was appended last may hold a secret.

    Args:
        columns: with the row.
        redactor: knows what to look for.
        blobs: the bytes of the span, which the row has in base64.
    """
    told = [columns[name][-1] or "" for name in _OWN]
    if len(columns["name"]) < 2 or any(columns[name][-1] != columns[name][-2] for name in _SHARED):
        # Like those of the row before they hold none: that was looked at.
        told += [columns[name][-1] or "" for name in _SHARED]
    return redactor.suspects("\n".join(told)) or any(redactor.suspects(altering.legible(blob)) for blob in blobs)


def without_secrets(read: ReadSpan, reading: Reading, policy: Policy, redactor: Redactor) -> Altered | None:
    """Return a span without its secrets; None where it has none.

    Args:
        read: the span, and what it was compared by.
        reading: what it says.
        policy: whose volatile keys signatures leave out.
        redactor: knows what to look for.
    """
    found = altering.redacted(read.span, redactor)
    if found is None:
        return None
    span, notes = found
    span = with_these_told(span, [_told_redacted(told, policy, redactor) for told in _told_by(read.span)])
    if reading.requested:
        signatures = [signature_of(request, policy) for request in reading.requested]
        span = replace(span, extra={**span.extra, REQUESTED: signatures})
    kept = read.kept
    if kept is not None and kept.evidence is not None:
        cleaned = _call(_redacted_reading(reading, redactor), policy)
        kept = replace(kept, evidence=_with_sketch(kept.evidence, cleaned.evidence))
    return Altered(span, notes, REDACTED, kept)


def withhold(read: ReadSpan, reading: Reading, policy: Policy, redactor: Redactor) -> Altered:
    """Return a span without content; the arguments are those of `without_secrets`."""
    source = read.span
    clean = _cleaner(redactor)
    policy = policy.for_task_type(reading.task_type)
    call = _call(reading, policy) if reading.role is Role.TOOL else None
    stop = stop_by_failure(source)
    span = altering.without_content(source)
    extra: dict[str, Any] = {name: value for name, value in span.extra.items() if name != VALUE_LIMIT}
    extra[READING] = reading_values(without_content(reading, call, policy, clean))
    if stop is not None:
        extra[STOP] = stop
    told = [told_without_content(each, policy, clean) for each in _told_by(source)]
    span = with_these_told(replace(span, extra=extra), told)
    kept = read.kept
    if kept is not None and kept.evidence is not None:
        kept = replace(kept, evidence=whole(kept.evidence))
    return Altered(span, {}, OFF, kept)


def _cleaner(redactor: Redactor) -> Callable[[str], str]:
    return lambda text: redactor.text(text, Counter[str]())


def _told_by(span: SpanRecord) -> tuple[Told, ...]:
    try:
        return told_by(span)
    except Exception:  # noqa: BLE001 - what a malformed span tells is lost, the span is not
        return ()


def _told_redacted(told: Told, policy: Policy, redactor: Redactor) -> Told:
    found = Counter[str]()
    arguments = altering.redacted_value(told.arguments, "", redactor, found)
    has_other_arguments = bool(found)
    result = altering.redacted_value(told.result, "", redactor, found)
    message = altering.redacted_value(told.error_message, "", redactor, found)
    if not found:
        return told
    was, now = (
        _call(
            Reading(role=Role.TOOL, tool=told.tool, arguments=args, result=came, is_error=told.is_error, error_message=error),
            policy,
        )
        for args, came, error in ((told.arguments, told.result, told.error_message), (arguments, result, message))
    )
    return replace(
        told,
        arguments=arguments,
        result=result,
        error_message=message,
        signature=was.signature if has_other_arguments else None,
        evidence=_with_sketch(was.evidence, now.evidence) if was.evidence != now.evidence and was.evidence is not None else None,
    )


def _redacted_reading(reading: Reading, redactor: Redactor) -> Reading:
    found = Counter[str]()
    return replace(
        reading,
        result=altering.redacted_value(reading.result, "", redactor, found),
        error_message=altering.redacted_value(reading.error_message, "", redactor, found),
    )


def _with_sketch(was: ResultEvidence, now: ResultEvidence | None) -> ResultEvidence:
    """Return evidence with the words of what is left: hashes of single words would give short secrets away."""
    return replace(was, sketch=now.sketch if now is not None else frozenset())


def _call(reading: Reading, policy: Policy) -> Call:
    return make_call(reading, trace_id="", span_id="", agent="", start_ns=0, end_ns=0, policy=policy)
