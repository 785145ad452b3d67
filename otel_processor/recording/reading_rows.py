"""What a span without content said, beside it: read before that was left out, and never again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from otel_processor.detection.effects import effect_of
from otel_processor.detection.evidence import make_call
from otel_processor.detection.failing import what_failed
from otel_processor.detection.signature import sign
from otel_processor.model import (
    Call,
    Reading,
    RequestedCall,
    ResultEvidence,
    Role,
    SpanRecord,
    StopReason,
    Told,
    Withheld,
)
from otel_processor.policy import Policy
from otel_processor.privacy.structure import as_id, as_name, withheld
from otel_processor.recording.bounds import json_text
from otel_processor.runs.telling import withheld_of, withheld_values

READING = "otel_processor.reading"
"""Name under which a span's `extra` keeps what it says."""

REQUESTED = "otel_processor.requested"
"""Name under which a span's `extra` keeps the signatures of the calls that a model asked for, where secrets were taken out."""

_NAMES = ("agent", "tool", "model", "provider", "task", "task_type", "service_tier")
_IDS = ("conversation_id", "call_id", "run_id", "error_type", "finish_reason")
_TEXTS = ("text", "reasoning", "error_message")


def without_content(reading: Reading, call: Call | None, policy: Policy, clean: Callable[[str], str]) -> Reading:
    """Return a reading with stand-ins for content.

    Args:
        reading: of the span as it came.
        call: the tool call that it is, as detection sees it; None where it is none.
        policy: whose volatile keys signatures leave out.
        clean: takes secrets out of what is kept.
    """
    found = dict(reading.__dict__)
    for name in (*_NAMES, *_IDS):
        if isinstance(found.get(name), str):
            found[name] = clean((as_name if name in _NAMES else as_id)(found[name]))
    for name in _TEXTS:
        if found.get(name):
            found[name] = withheld(found[name])
    for name in ("arguments", "result"):
        if found.get(name) is not None:
            found[name] = stand_in(found[name])
    if reading.requested:
        found["requested"] = tuple(_request(each, policy, clean) for each in reading.requested)
    if call is not None:
        effect = effect_of(reading.tool or "", None, reading.arguments) if reading.tool in policy.effects else call.effect
        said = what_failed(call)
        found["withheld"] = Withheld(call.error_class, effect, is_mute=said is not None and not said.words)
    return Reading.of(found)


def stand_in(value: Any) -> str:
    """Return what stands for arguments or a result."""
    return withheld(value if isinstance(value, str) else json_text(value))


def whole(evidence: ResultEvidence) -> ResultEvidence:
    """Return evidence that tells results apart as a whole only: hashes of single words would give short ones away."""
    word = int(evidence.fingerprint[:8], 16) << 8 | min(evidence.length, 255)
    return replace(evidence, sketch=frozenset({word}))


def told_without_content(told: Told, policy: Policy, clean: Callable[[str], str]) -> Told:
    """Return what is told of another span's call, with stand-ins for content."""
    reading = Reading(
        role=Role.TOOL,
        tool=told.tool,
        arguments=told.arguments,
        result=told.result,
        is_error=told.is_error,
        error_message=told.error_message,
    )
    call = make_call(reading, trace_id="", span_id="", agent="", start_ns=0, end_ns=0, policy=policy)
    stripped = without_content(reading, call, policy, clean)
    return Told(
        told.call_id and clean(as_id(told.call_id)),
        stripped.tool,
        stripped.arguments,
        stripped.result,
        told.is_error,
        stripped.error_message,
        told.made_here,
        call.signature,
        call.evidence and whole(call.evidence),
        stripped.withheld,
    )


def _request(request: RequestedCall, policy: Policy, clean: Callable[[str], str]) -> RequestedCall:
    return RequestedCall(
        request.call_id and clean(as_id(request.call_id)),
        clean(as_name(request.tool)),
        None if request.arguments is None else stand_in(request.arguments),
        signature_of(request, policy),
    )


def signature_of(request: RequestedCall, policy: Policy) -> str | None:
    """Return the signature that a call has which does as it was asked."""
    return sign(request.tool, request.arguments, policy.volatile_keys)


def reading_values(reading: Reading) -> dict[str, Any]:
    """Return a reading as a JSON object; what it does not say is left out."""
    values = {name: value for name, value in reading.__dict__.items() if value is not None}
    if reading.requested:
        values["requested"] = [[each.call_id, each.tool, each.arguments, each.signature] for each in reading.requested]
    else:
        values.pop("requested", None)
    if reading.withheld is not None:
        values["withheld"] = withheld_values(reading.withheld)
    return values


def reading_of(span: SpanRecord) -> Reading | None:
    """Return what a span without content said, or None where it has its content."""
    values = span.extra.get(READING)
    if not isinstance(values, Mapping):
        return None
    found = dict(values)
    if "role" in found:
        found["role"] = Role(found["role"])
    if "requested" in found:
        found["requested"] = tuple(RequestedCall(*each) for each in found["requested"])
    if "stop_declared" in found:
        found["stop_declared"] = StopReason(found["stop_declared"])
    if "flag_declared" in found:
        found["flag_declared"] = StopReason(found["flag_declared"])
    if "withheld" in found:
        found["withheld"] = withheld_of(found["withheld"])
    return Reading.of(found)


def with_signatures(span: SpanRecord, reading: Reading) -> Reading:
    """Return what a span says with the signatures that requests had before secrets were taken out of them."""
    signatures = span.extra.get(REQUESTED)
    if not isinstance(signatures, list) or len(signatures) != len(reading.requested):
        return reading
    pairs = zip(reading.requested, signatures, strict=True)
    return replace(reading, requested=tuple(replace(request, signature=signature) for request, signature in pairs))
