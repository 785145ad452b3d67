"""From what a span says to a call that detection can compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otel_processor.detection.effects import effect_of, moves_a_view
from otel_processor.detection.failures import classify_error, transient_in_body
from otel_processor.detection.fingerprint import examine, result_text
from otel_processor.detection.signature import sign
from otel_processor.model import Call, Effect, ErrorClass, Reading, ResultEvidence, Role
from otel_processor.policy import Policy

_VIEW_CHARS = 32
"""Characters from which the answer to a scroll or a key is a view and no mere "ok"."""


def make_call(
    reading: Reading,
    *,
    trace_id: str,
    span_id: str,
    agent: str,
    start_ns: int,
    end_ns: int,
    policy: Policy,
    arguments: Any = None,
    evidence: ResultEvidence | None = None,
    signature: str | None = None,
    result_was_cut: bool = False,
    examined: Callable[[str], ResultEvidence] = examine,
) -> Call:
    """Build the call that a model or tool span stands for.

    Args:
        reading: what the span says; its role is `TOOL` or `MODEL`.
        trace_id: of the span, lower-case hex.
        span_id: of the span, lower-case hex.
        agent: whose counters the call goes into; empty where no agent is named.
        start_ns: when the call began, nanoseconds since the epoch.
        end_ns: when it ended.
        policy: says which argument names to ignore and what tools do.
        arguments: known from elsewhere (the model's request), used when the span has none.
        evidence: of the result as it was before it was cut or redacted; replaces looking at it.
        signature: likewise.
        result_was_cut: the result lost its end before anyone here saw it, so that it compares to nothing.
        examined: how to examine a result's text; a caller may remember what it examined before.
    """
    if reading.role is not Role.TOOL:
        return Call(trace_id, span_id, reading.role, agent, start_ns, end_ns, reading)
    tool = reading.tool or ""
    known_arguments = reading.arguments if reading.arguments is not None else arguments
    text = None if reading.result is None else result_text(reading.result)
    if text is None and reading.is_error:
        # What a failed call brought back is its error: "2 failed" and then "1 failed" are not the same answer.
        text = reading.error_message
    error_class: ErrorClass | None = None
    if reading.is_error:
        error_class = classify_error(reading.error_type, reading.error_message, text)
    elif type(reading.result) is dict and transient_in_body(reading.result):
        error_class = ErrorClass.TRANSIENT
    if reading.withheld is not None:
        error_class = reading.withheld.error_class
    if evidence is None and text is not None and not result_was_cut:
        evidence = examined(text)
    effect = effect_of(tool, policy.effects, known_arguments)
    if reading.withheld is not None:
        effect = effect if tool in policy.effects else reading.withheld.effect or effect
    elif effect is Effect.POLL and _shows_a_view(tool, known_arguments, evidence):
        # It shows what is there now, so that nothing new is the end of it.
        effect = Effect.READ
    return Call(
        trace_id,
        span_id,
        Role.TOOL,
        agent,
        start_ns,
        end_ns,
        reading,
        signature or sign(tool, known_arguments, policy.volatile_keys),
        evidence,
        error_class,
        effect,
    )


def _shows_a_view(tool: str, arguments: Any, evidence: ResultEvidence | None) -> bool:
    return evidence is not None and evidence.length >= _VIEW_CHARS and moves_a_view(tool, arguments)
