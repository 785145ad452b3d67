"""One run as it goes on: detection, and the alerts that are open."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from otel_processor.detection.run_state import RunState
from otel_processor.model import Alert, Call, CallOutcome, Pattern, StopReason
from otel_processor.policy import Policy


class RunTracker:
    """The memory of one run, used by the live path and by the ledger alike. Its owner holds the lock."""

    __slots__ = ("_open", "flagged_reason", "run_id", "state")

    def __init__(self, run_id: str, policy: Policy) -> None:
        self.run_id = run_id
        self.state = RunState(policy)
        self.flagged_reason: StopReason | None = None
        self._open: dict[Pattern, Alert] = {}

    def copy(self) -> RunTracker:
        """Return a tracker of its own that goes on from here."""
        twin = RunTracker(self.run_id, self.state.policy)
        twin.state, twin._open = self.state.copy(), dict(self._open)
        twin.flagged_reason = self.flagged_reason
        return twin

    def observe(self, call: Call, *, task: str | None) -> tuple[CallOutcome, tuple[Alert, ...], tuple[Alert, ...]]:
        """Take in the run's next call.

        Returns:
            what it means, the alerts that it opened or made graver, and those that it resolved.
        """
        outcome = self.state.observe(call)
        if not outcome.verdicts and not outcome.resolved:
            return outcome, (), ()
        resolved = tuple(
            replace(alert, resolved_ns=call.end_ns) for pattern in outcome.resolved if (alert := self._open.pop(pattern, None))
        )
        opened = []
        for verdict in outcome.verdicts:
            before = self._open.get(verdict.pattern)
            alert = (
                replace(before, verdict=verdict)
                if before is not None
                else Alert(
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
            )
            self._open[verdict.pattern] = alert
            if self.flagged_reason is None and (verdict.stop_reason or "").startswith("loop_detected:"):
                self.flagged_reason = verdict.stop_reason
            opened.append(alert)
        return outcome, tuple(opened), resolved

    def finish(self, at_ns: int) -> tuple[Alert, ...]:
        """Resolve what is open: the run has ended."""
        over = tuple(replace(alert, resolved_ns=at_ns) for alert in self._open.values())
        self._open.clear()
        return over

    @property
    def open_alerts(self) -> tuple[Pattern, ...]:
        """Patterns of the alerts that are open."""
        return tuple(self._open)


def alert_id(run_id: str, pattern: Pattern, span_id: str) -> str:
    """Return the id of the alert that a run's pattern opened at a span: the same whoever saw it."""
    return hashlib.sha256(f"{run_id}\n{pattern}\n{span_id}".encode("utf-8", "replace")).hexdigest()[:32]
