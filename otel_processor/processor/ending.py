"""Why the guard ended a run, told when its root ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otel_processor.dialects import names
from otel_processor.errors import LoopDetected, LoopNudge
from otel_processor.model import Mode, StopReason

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from otel_processor.guard.guarded_run import GuardedRun
    from otel_processor.processor.live_runs import LiveRun


def guard_reason(run: LiveRun, span: ReadableSpan) -> StopReason | None:
    """Return the reason where the guard ended the run: it stopped it for good, or its exception went through to the root."""
    guarded = run.guarded
    if guarded is None or guarded.mode is not Mode.ENFORCE:
        return None
    finding = guarded.stopped
    if finding is None and _let_through(guarded, span):
        finding = guarded.last_finding
    return finding.stop_reason if finding is not None else None


def _let_through(guarded: GuardedRun, span: ReadableSpan) -> bool:
    """Return whether what kept a call from being made ended the run: a writer that does not name it says that it failed."""
    if any(_was_raised(event.attributes) for event in span.events if event.name == names.EXCEPTION_EVENT):
        return True
    return guarded.history.ends_with_refusal and span.status.status_code.name == "ERROR"


def _was_raised(attributes: Mapping[str, Any] | None) -> bool:
    kind = str((attributes or {}).get(names.EXCEPTION_TYPE, ""))
    return kind.rpartition(".")[2] in {LoopDetected.__name__, LoopNudge.__name__}
