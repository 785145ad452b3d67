"""Runs judged in memory under one policy, by the ledger that the recorder judges them by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from otel_processor.model import Action, History
from otel_processor.pricing import Pricer
from otel_processor.recording.preparing import read_with_limits
from otel_processor.runs.ledger import Ledger
from otel_processor.what_if.results import FirstVerdict, Judged

if TYPE_CHECKING:
    from otel_processor.policy import Policy
    from otel_processor.runs.records import Delta
    from otel_processor.what_if.choosing import Together
    from otel_processor.what_if.reading import StoredSpan
    from otel_processor.what_if.task_histories import TaskHistories

_NEVER_IDLE_SECONDS = 1_000_000_000.0
"""What is one run stays one: a what-if compares the runs that there are."""


class Judging:
    """Judges stored runs under one policy; owned by one thread."""

    def __init__(self, policy: Policy, histories: TaskHistories) -> None:
        self._policy = replace(policy, run_idle_timeout_seconds=_NEVER_IDLE_SECONDS)
        self._histories = histories
        self._being_judged: frozenset[str] = frozenset()
        self._ledger = Ledger(self._policy, lookup_history=self._lookup_history, price=Pricer(policy).dollars)

    def judge(self, together: Together, spans: Sequence[StoredSpan]) -> dict[str, Judged]:
        """Return what the policy says of each run that these spans make, by run id."""
        reads = [
            read_with_limits(each.span, each.reading, self._policy, altered=each.was_altered, kept=each.kept) for each in spans
        ]
        self._being_judged = together.run_ids
        try:
            return _judged(self._ledger.apply(reads))
        finally:
            self._ledger.forget(together.trace_ids)
            self._being_judged = frozenset()

    def _lookup_history(self, task: str, before_ns: int, least: int) -> History | None:
        return self._histories.of(task, before_ns, least, self._being_judged)


def _judged(delta: Delta) -> dict[str, Judged]:
    steps = {(recorded.call.trace_id, recorded.call.span_id): recorded.outcome.step for recorded in delta.calls}
    found = {run.run_id: Judged() for run in delta.runs}
    for alert in sorted(delta.alerts, key=lambda alert: alert.at_ns):
        known = found.get(alert.run_id)
        if known is None:
            continue
        verdict = alert.verdict
        found[alert.run_id] = Judged(
            known.patterns | {str(verdict.pattern)},
            known.advises_stop or verdict.action is Action.STOP,
            known.first
            or FirstVerdict(
                str(verdict.pattern),
                str(verdict.action),
                steps.get((alert.trace_id, alert.span_id)),
                alert.at_ns,
                verdict.message,
            ),
        )
    return found
