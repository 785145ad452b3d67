"""One run as it goes on: detection, and the alerts that are open."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from otel_processor.detection.run_state import RunState
from otel_processor.dialects.stops import stop_by_word
from otel_processor.model import Action, Alert, Call, CallOutcome, Pattern, Role, StopReason, Verdict
from otel_processor.policy import Policy

ALERTS_OF_A_PATTERN = 5
"""Alerts that a run opens for one pattern. What comes back each time is not over with the next thing that is new: the last of
them stays open until the run ends."""

_GRAVITY = (Action.CONTINUE, Action.NUDGE, Action.COMPRESS, Action.STOP)


class RunTracker:
    """The memory of one run, used by the live path and by the ledger alike. Its owner holds the lock."""

    __slots__ = ("_open", "_times", "flagged_reason", "last_finish_reason", "run_id", "state")

    def __init__(self, run_id: str, policy: Policy) -> None:
        self.run_id = run_id
        self.state = RunState(policy)
        self.flagged_reason: StopReason | None = None
        self.last_finish_reason: str | None = None
        self._open: dict[Pattern, Alert] = {}
        self._times: dict[Pattern, int] = {}

    def copy(self) -> RunTracker:
        """Return a tracker of its own that goes on from here."""
        twin = RunTracker(self.run_id, self.state.policy)
        twin.state, twin._open, twin._times = self.state.copy(), dict(self._open), dict(self._times)
        twin.flagged_reason, twin.last_finish_reason = self.flagged_reason, self.last_finish_reason
        return twin

    def observe(self, call: Call, *, task: str | None) -> tuple[CallOutcome, tuple[Alert, ...], tuple[Alert, ...]]:
        """Take in the run's next call.

        Returns:
            what it means, the alerts that it opened or made graver, and those that it resolved.
        """
        if call.kind is Role.MODEL and call.reading.finish_reason is not None:
            self.last_finish_reason = call.reading.finish_reason
        outcome = self.state.observe(call)
        if not outcome.verdicts and not outcome.resolved:
            return outcome, (), ()
        resolved = tuple(
            replace(alert, resolved_ns=call.end_ns)
            for pattern in outcome.resolved
            if self._times.get(pattern, 0) < ALERTS_OF_A_PATTERN and (alert := self._open.pop(pattern, None))
        )
        opened = [self.tell(verdict, call, task=task) for verdict in outcome.verdicts if not self._was_told_enough(verdict)]
        return outcome, tuple(opened), resolved

    def _was_told_enough(self, verdict: Verdict) -> bool:
        """Return whether the last alert for the pattern is open and says as much."""
        last = self._open.get(verdict.pattern) if self._times.get(verdict.pattern, 0) >= ALERTS_OF_A_PATTERN else None
        return last is not None and _GRAVITY.index(verdict.action) <= _GRAVITY.index(last.verdict.action)

    def _alert(self, verdict: Verdict, call: Call, task: str | None) -> Alert:
        return Alert(
            alert_id=alert_id(self.run_id, verdict.pattern, call.span_id),
            run_id=self.run_id,
            trace_id=call.trace_id,
            span_id=call.span_id,
            at_ns=call.end_ns,
            task=task,
            agent=call.agent or None,
            tool=call.reading.tool,
            verdict=verdict,
        )

    def _flag(self, verdict: Verdict) -> None:
        if self.flagged_reason is None and (verdict.stop_reason or "").startswith("loop_detected:"):
            self.flagged_reason = verdict.stop_reason

    def tell(self, verdict: Verdict, call: Call, *, task: str | None) -> Alert:
        """Open an alert, or say something graver in the one that is open."""
        before = self._open.get(verdict.pattern)
        if before is not None:
            alert = replace(before, verdict=verdict)
        else:
            alert = self._alert(verdict, call, task)
            self._times[verdict.pattern] = self._times.get(verdict.pattern, 0) + 1
        self._open[verdict.pattern] = alert
        self._flag(verdict)
        return alert

    def finish(self, at_ns: int) -> tuple[Alert, ...]:
        """Resolve what is open: the run has ended."""
        over = tuple(replace(alert, resolved_ns=at_ns) for alert in self._open.values())
        self._open.clear()
        return over

    @property
    def open_alerts(self) -> tuple[Pattern, ...]:
        """Patterns of the alerts that are open."""
        return tuple(self._open)

    @property
    def end_reason(self) -> StopReason:
        """Why the run ended where nothing but its model tells it, by its last answer."""
        return stop_by_word(self.last_finish_reason) or StopReason.COMPLETED


def alert_id(run_id: str, pattern: Pattern, span_id: str) -> str:
    """Return the id of the alert that a run's pattern opened at a span: the same whoever saw it."""
    return hashlib.sha256(f"{run_id}\n{pattern}\n{span_id}".encode("utf-8", "replace")).hexdigest()[:32]
