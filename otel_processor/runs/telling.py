"""What spans tell of calls that other spans stand for, and what becomes of a call that was told of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from otel_processor.detection.fingerprint import result_text
from otel_processor.dialects.reader import told_by
from otel_processor.model import Effect, ErrorClass, Reading, RequestedCall, ResultEvidence, Role, SpanRecord, Told, Withheld
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
    return with_these_told(span, told_by(span))


def with_these_told(span: SpanRecord, tellings: Iterable[Told]) -> SpanRecord:
    """Return a span with what it tells, if anything, in its `extra`."""
    room = _ALL_CHARS
    kept = []
    for told in tellings:
        text = told.result if told.result is None or isinstance(told.result, str) else result_text(told.result)
        values = _told_values(told) | {"result": None if text is None else text[: min(RESULT_CHARS, room)]}
        room -= len(values["result"] or "")
        kept.append({name: value for name, value in values.items() if value not in (None, False)})
        if room <= 0:
            break
    return replace(span, extra={**span.extra, TOLD: kept}) if kept else span


def _told_values(told: Told) -> dict[str, Any]:
    return {
        "call_id": told.call_id,
        "tool": told.tool,
        "arguments": told.arguments,
        "is_error": told.is_error,
        "error_message": told.error_message,
        "made_here": told.made_here,
        "signature": told.signature,
        "evidence": told.evidence and evidence_values(told.evidence),
        "withheld": told.withheld and withheld_values(told.withheld),
    }


def _kept(values: Iterable[Mapping[str, Any]]) -> tuple[Told, ...]:
    return tuple(
        Told(
            **{
                **told,
                "evidence": evidence_of(told["evidence"]) if "evidence" in told else None,
                "withheld": withheld_of(told["withheld"]) if "withheld" in told else None,
            }
        )
        for told in values
    )


def evidence_values(evidence: ResultEvidence) -> dict[str, Any]:
    """Return evidence as a JSON object."""
    return {
        "raw_hash": evidence.raw_hash,
        "fingerprint": evidence.fingerprint,
        "sketch": sorted(evidence.sketch),
        "length": evidence.length,
    }


def evidence_of(values: Mapping[str, Any]) -> ResultEvidence:
    """Return the evidence that a JSON object holds."""
    return ResultEvidence(values["raw_hash"], values["fingerprint"], frozenset(values["sketch"]), values["length"])


def withheld_values(withheld: Withheld) -> dict[str, Any]:
    """Return what was made of content that is not kept, as a JSON object."""
    return {"error_class": withheld.error_class, "effect": withheld.effect, "is_mute": withheld.is_mute}


def withheld_of(values: Mapping[str, Any]) -> Withheld:
    """Return what a JSON object says of content that is not kept."""
    error_class, effect = values.get("error_class"), values.get("effect")
    return Withheld(
        ErrorClass(error_class) if error_class else None, Effect(effect) if effect else None, values.get("is_mute") is True
    )


def filled(item: ReadSpan, told: Told) -> ReadSpan:
    """Return a call with what only the telling says of it; a failure that is told makes it one that failed."""
    reading, kept, was_cut = item.reading, item.kept, item.result_was_cut
    more: dict[str, Any] = {}
    if reading.result is None and told.result is not None:
        more["result"] = told.result
        was_cut = isinstance(told.result, str) and len(told.result) >= RESULT_CHARS and told.evidence is None
        if kept is not None or told.evidence is not None:
            kept = _kept_with(kept, kept.signature if kept is not None else None, told.evidence)
    if reading.arguments is None and told.arguments is not None:
        more["arguments"] = told.arguments
        if kept is not None or told.signature is not None:
            kept = _kept_with(kept, told.signature, kept.evidence if kept is not None else None)
    if told.is_error and not reading.is_error:
        more["is_error"] = True
    if (told.is_error or reading.is_error) and reading.error_message is None and told.error_message is not None:
        more["error_message"] = told.error_message
        if reading.result is None and "result" not in more and told.evidence is not None:
            # What a failed call brought back is its error.
            kept = _kept_with(kept, kept.signature if kept is not None else None, told.evidence)
    if more and told.withheld is not None:
        effect = reading.withheld.effect if reading.withheld is not None else told.withheld.effect
        error_class = told.withheld.error_class or (reading.withheld.error_class if reading.withheld is not None else None)
        more["withheld"] = Withheld(error_class, effect, told.withheld.is_mute)
    return replace(item, reading=replace(reading, **more), kept=kept, result_was_cut=was_cut) if more else item


def _kept_with(kept: KeptEvidence | None, signature: str | None, evidence: ResultEvidence | None) -> KeptEvidence:
    return KeptEvidence(signature, evidence, is_told=kept is None or kept.is_told)


def with_request(item: ReadSpan, request: RequestedCall) -> ReadSpan:
    """Return a call with the arguments that its model asked for, where it does not say them itself."""
    if item.reading.arguments is not None or request.arguments is None:
        return item
    kept = item.kept
    if request.signature is not None:
        kept = _kept_with(kept, request.signature, kept.evidence if kept is not None else None)
    return replace(item, reading=replace(item.reading, arguments=request.arguments), kept=kept)


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
            withheld=told.withheld,
        ),
        kept=KeptEvidence(told.signature, told.evidence, is_told=True) if told.signature or told.evidence else None,
        result_was_cut=isinstance(told.result, str) and len(told.result) >= RESULT_CHARS and told.evidence is None,
        content=item.content,
    )
