"""From what an agent says of its calls to the calls of its run."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from otel_processor.alerts.receivers import hand_over
from otel_processor.bug_reports import report_bug
from otel_processor.detection.evidence import make_call
from otel_processor.guard.answer import Answer, fine
from otel_processor.guard.asked import Asked, AskedCalls
from otel_processor.guard.declaring import declare_stop_reason
from otel_processor.guard.guarded_run import GuardedRun
from otel_processor.model import Alert, Call, Reading, Role
from otel_processor.policy import Policy
from otel_processor.privacy.alerts import for_log

NOT_RECORDED: Any = object()
"""Stands for a result of which nothing is known."""

_ERROR_CHARS = 2_000


class Feeding:
    """The part of a guard that makes calls of what it is told; what it holds is guarded by one lock."""

    _policy: Policy
    _run: GuardedRun
    _asked: AskedCalls
    _trace_id: str
    _agent: str
    _asking: str
    """The agent that asked last."""
    _clock: Callable[[], int]
    _on_alert: Callable[[Alert], object] | None
    _stop_was_declared: bool
    _own_lock: threading.Lock

    @property
    def _lock(self) -> threading.Lock:
        return self._own_lock

    def _ask(self, name: str, arguments: Any, call_id: str | None, agent: str | None) -> Asked:
        call = self._tool_call(name, {} if arguments is None else arguments, call_id, self._agent if agent is None else agent)
        place = self._asked.place()
        key = call_id or (place, call.agent, name, call.signature or call.span_id)
        with self._lock:
            asked = self._asked.at(key)
            if asked is None or asked.call.signature != call.signature:
                asked = Asked(key, place, call, fine())
            self._asking = call.agent
            asked.answer = self._run.answer(asked.call, call_id or asked.call.span_id)
            self._asked.remember(asked)
        return asked

    def _tool_call(self, name: str, arguments: Any, call_id: str | None, agent: str) -> Call:
        now = self._clock()
        return make_call(
            Reading(role=Role.TOOL, tool=name, call_id=call_id, arguments=arguments),
            trace_id=self._trace_id,
            span_id=uuid.uuid4().hex[:16],
            agent=agent,
            start_ns=now,
            end_ns=now,
            policy=self._policy,
        )

    def _model_call(self, agent: str, reading: Reading, *, same_step: bool = False) -> Call:
        now = self._clock()
        return Call(self._trace_id, uuid.uuid4().hex[:16], Role.MODEL, agent, now, now, reading, same_step=same_step)

    def _take(self, call: Answer | str | None) -> Asked | None:
        with self._lock:
            return self._asked.take(call.call_id if isinstance(call, Answer) else call)

    def _asked_here(self, *, begun_only: bool = False) -> list[Asked]:
        with self._lock:
            return self._asked.take_here(None, begun_only=begun_only)

    def _all_asked(self) -> list[Asked]:
        with self._lock:
            return self._asked.take_all()

    def _settle(self, agent: str) -> None:
        """Close what this line of execution asked about in its last step."""
        with self._lock:
            left = self._asked.take_here(agent)
        for asked in left:
            self._close(asked)

    def _close(self, asked: Asked) -> None:
        if asked.answer.allows_call:
            self._made(asked, NOT_RECORDED, None, None)
        else:
            self._refuse(asked)

    def _made(self, asked: Asked, result: Any, error: BaseException | str | None, progress: bool | None) -> Answer:
        before = asked.call
        reading = before.reading
        call = make_call(
            Reading(
                role=Role.TOOL,
                tool=reading.tool,
                call_id=reading.call_id,
                arguments=reading.arguments,
                result=None if result is NOT_RECORDED else "null" if result is None else result,
                is_error=error is not None,
                error_type=type(error).__name__ if isinstance(error, BaseException) else None,
                error_message=str(error)[:_ERROR_CHARS] if error is not None else None,
                progress_declared=progress if progress is not None else asked.progress,
            ),
            trace_id=before.trace_id,
            span_id=before.span_id,
            agent=before.agent,
            start_ns=before.start_ns,
            end_ns=self._clock(),
            policy=self._policy,
            signature=before.signature,
        )
        return self._take_in(call)

    def _declare(self, progress: bool) -> Answer:
        """Take in what the agent says of its step apart from any call."""
        now = self._clock()
        reading = Reading(role=Role.TOOL, progress_declared=progress)
        return self._take_in(Call(self._trace_id, uuid.uuid4().hex[:16], Role.TOOL, self._asking, now, now, reading))

    def _take_in(self, call: Call) -> Answer:
        """Count a call, tell what is worth telling, and return what is to be said now."""
        with self._lock:
            run = self._run
            held = run.held_against(call)
            outcome, alerts, ended = run.tracker.observe(call, task=run.task)
            alerts += run.took(call, outcome, held)
            answer = run.now(call.agent)
        self._tell(alerts)
        self._tell_end(ended)
        self._declare_stop()
        return answer

    def _refuse(self, asked: Asked) -> None:
        with self._lock:
            alerts = self._run.refused(asked.call, asked.answer)
        self._tell(alerts)
        self._declare_stop()

    def _declare_stop(self) -> None:
        """Say at once that the run was stopped: nobody may come to `finish`."""
        stopped = self._run.stopped
        if self._run.is_over and not self._stop_was_declared and stopped is not None and stopped.stop_reason is not None:
            self._stop_was_declared = True
            declare_stop_reason(stopped.stop_reason)

    def _refuse_now(self, answer: Answer) -> None:
        asked = self._take(answer)
        if asked is not None:
            self._refuse(asked)

    def _now(self, agent: str) -> Answer:
        with self._lock:
            return self._run.now(agent)

    def _tell(self, alerts: tuple[Alert, ...]) -> None:
        for alert in alerts:
            if self._on_alert is None:
                hand_over(replace(alert, by_guard=True), cleaned=for_log)
                continue
            try:
                self._on_alert(alert)
            except Exception:  # noqa: BLE001 - a bug of the callback's
                report_bug("on_alert")

    def _tell_end(self, alerts: tuple[Alert, ...]) -> None:
        """Say that alerts are over where they were stored: no span says it of a run that nobody else watches."""
        for alert in alerts if self._on_alert is None else ():
            hand_over(replace(alert, by_guard=True), cleaned=for_log)
