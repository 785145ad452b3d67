"""What is written on the agent's own spans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otel_processor.dialects import names
from otel_processor.model import Alert, Call, CallOutcome, Reading
from otel_processor.processor.open_spans import Surroundings
from otel_processor.processor.sdk_span import write_tags

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


def with_inherited(span: ReadableSpan, reading: Reading, around: Surroundings) -> Reading:
    """Write on a call what was declared above it: the span that declared it arrives later, or never if it is killed."""
    tags: dict[str, Any] = {}
    found: dict[str, Any] = {}
    if around.declared_run_id is not None and reading.run_id is None:
        tags |= {names.LOOP_RUN_ID: around.declared_run_id, names.LOOP_RUN_DECLARED: True}
        found["run_id"] = around.declared_run_id
    if around.task_type is not None and reading.task_type is None:
        tags[names.LOOP_TASK_TYPE] = found["task_type"] = around.task_type
    if not found or not write_tags(span, tags):
        return reading
    return Reading.of(reading.__dict__ | found)


def tags_of(run_id: str, call: Call, outcome: CallOutcome) -> dict[str, Any]:
    """Return what is known of a tool call when it ends, as the attributes that every exporter sees."""
    tags: dict[str, Any] = {
        names.LOOP_RUN_ID: run_id,
        names.LOOP_STEP: outcome.step,
        names.LOOP_FLAT_STEPS: outcome.flat_steps,
    }
    if call.signature is not None:
        tags[names.LOOP_SIGNATURE] = call.signature
    if outcome.repeats is not None:
        tags[names.LOOP_REPEATS] = outcome.repeats
    if call.evidence is not None:
        tags[names.LOOP_FINGERPRINT] = call.evidence.fingerprint
    if outcome.progress is not None:
        tags[names.LOOP_PROGRESS] = outcome.progress
    if outcome.standing is not None:
        tags[names.LOOP_PATTERN] = str(outcome.standing.pattern)
        tags[names.LOOP_VERDICT] = str(outcome.standing.action)
    return tags


def alert_attributes(alert: Alert) -> Mapping[str, Any]:
    """Return the attributes of the span event that an alert is."""
    verdict = alert.verdict
    return {
        "alert_id": alert.alert_id,
        "pattern": str(verdict.pattern),
        "severity": verdict.severity,
        "action": str(verdict.action),
        "stop_reason": str(verdict.stop_reason or ""),
        "message": verdict.message,
    }
