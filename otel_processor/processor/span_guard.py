"""The guard of a run whose calls are counted by their spans, and the way to the guard that this code runs under."""

from __future__ import annotations

import time
from threading import Lock
from typing import Any

from opentelemetry import trace

from otel_processor.bug_reports import report_bug
from otel_processor.dialects.names import LOOP_PROGRESS_DECLARED
from otel_processor.guard.answer import Answer, fine
from otel_processor.guard.asked import Asked
from otel_processor.guard.declaring import declare_stop_reason
from otel_processor.guard.loop_guard import LoopGuard, active_guard
from otel_processor.model import Call, Mode, StopReason
from otel_processor.policy import Policy
from otel_processor.processor.live_runs import LiveRun, LiveRuns, every_live_runs
from otel_processor.processor.refusing import mark_refused


class SpanGuard(LoopGuard):
    """The guard of a run that a span processor watches: it is asked like any other, and its calls are told by their spans.

    `after_tool` and `on_turn` count nothing here, since the spans do; what the agent declares goes on the current span.
    """

    def __init__(self, live: LiveRuns, run: LiveRun, agent: str) -> None:
        self._live = live
        guarded = live.guard(run, None)
        self.mode = live.mode
        self._policy = guarded.policy
        self._run = guarded
        self._trace_id = f"{trace.get_current_span().get_span_context().trace_id:032x}"
        self._asked = run.asked
        self._agent = agent
        self._on_alert = live.tell
        self._clock = time.time_ns
        self._began_ns = run.last_ns or self._clock()
        self._ended_ns = None
        self._stop_was_declared = False
        self._reason = None
        self._handed_over = ""
        self._turn_is_open = {}
        self._tokens = []

    @property
    def _lock(self) -> Lock:
        return self._live.lock

    def _take_in(self, call: Call) -> Answer:
        return self._now(call.agent)

    def _made(
        self,
        asked: Asked,
        result: Any,  # noqa: ARG002 - the call's span says it; likewise the next
        error: BaseException | str | None,  # noqa: ARG002
        progress: bool | None,
    ) -> Answer:
        said = progress if progress is not None else asked.progress
        return self._now(asked.call.agent) if said is None else self._declare(said)

    def _refuse(self, asked: Asked) -> None:
        """Count the refusal: with the end of the call's span, where that is open around whoever refused it."""
        with self._lock:
            around = self._live.refuse_inside(trace.get_current_span().get_span_context().span_id, asked.call, asked.answer)
        if around:
            mark_refused(trace.get_current_span(), asked.answer)
        else:
            super()._refuse(asked)

    def _end(self, reason: StopReason | None) -> None:
        if reason is not None and reason is not StopReason.COMPLETED:
            declare_stop_reason(reason)

    def _declare(self, progress: bool) -> Answer:
        span = trace.get_current_span()
        if span.is_recording():
            span.set_attribute(LOOP_PROGRESS_DECLARED, progress)
        return self._now(self._agent)


class NoGuard(LoopGuard):
    """Stands where no guard is: it counts nothing and always answers to go on."""

    def __init__(self) -> None:
        super().__init__(_NO_POLICY, mode=Mode.OBSERVE)

    def _ask(self, name: str, arguments: Any, call_id: str | None, agent: str | None) -> Asked:
        call = self._tool_call(name, arguments, call_id, agent or "")
        return Asked(call_id, (0, 0), call, fine(call_id))

    def _take_in(self, call: Call) -> Answer:  # noqa: ARG002 - nothing is counted
        return fine()


_NO_POLICY = Policy()


def current_guard() -> LoopGuard:
    """Return the guard that this code runs under.

    That is the `LoopGuard` whose `with` block it is in; else that of the run which the current span belongs to, where a
    `LoopSpanProcessor` watches it; else one that counts nothing and lets everything be.
    """
    guard = active_guard()
    if guard is not None:
        return guard
    try:
        span_id = trace.get_current_span().get_span_context().span_id
        for live in every_live_runs() if span_id else ():
            with live.lock:
                found = live.run_around(span_id)
            if found is not None:
                for alert in live.recollect(*found):
                    if live.tell is not None:
                        live.tell(alert)
                return SpanGuard(live, *found)
    except Exception:  # noqa: BLE001 - nothing of ours reaches the agent
        report_bug("current_guard")
    return NoGuard()
