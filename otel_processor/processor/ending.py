"""Why a run ended, told when its root ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otel_processor.dialects import names
from otel_processor.errors import LoopDetected, LoopNudge
from otel_processor.model import Mode, StopReason

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from otel_processor.processor.live_runs import LiveRun, OpenSpan


def end_reason(known: OpenSpan, run: LiveRun, span: ReadableSpan) -> StopReason:
    """Say why the run of this root ended: as was declared, by the guard, by an error, or by the model's last word."""
    declared = known.attributes.get(names.LOOP_STOP_REASON_DECLARED)
    if declared in list(StopReason):
        return StopReason(declared)
    guard_said = guard_reason(run, span)
    if guard_said is not None:
        return guard_said
    return StopReason.ERROR if span.status.status_code.name == "ERROR" else run.tracker.end_reason


def guard_reason(run: LiveRun, span: ReadableSpan) -> StopReason | None:
    """Return the reason where the guard ended the run: it stopped it for good, or its exception went through to the root."""
    guarded = run.guarded
    if guarded is None or guarded.mode is not Mode.ENFORCE:
        return None
    finding = guarded.stopped
    if finding is None and any(_was_raised(event.attributes) for event in span.events if event.name == names.EXCEPTION_EVENT):
        finding = guarded.last_finding
    return finding.stop_reason if finding is not None else None


def _was_raised(attributes: Mapping[str, Any] | None) -> bool:
    kind = str((attributes or {}).get(names.EXCEPTION_TYPE, ""))
    return kind.rpartition(".")[2] in {LoopDetected.__name__, LoopNudge.__name__}
