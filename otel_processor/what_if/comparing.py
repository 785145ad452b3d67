"""The stored history under two policies: what each flags, and what only one of them does."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from otel_processor.bug_reports import report_bug
from otel_processor.model import Pattern
from otel_processor.store.opening import open_read_only, resolved
from otel_processor.what_if.choosing import Choice, Chosen, ChosenRun, Together, choose
from otel_processor.what_if.judging import Judging
from otel_processor.what_if.reading import StoredRuns, portions
from otel_processor.what_if.results import Judged, LeftOut, Outcome, PatternCount, RunOutcome
from otel_processor.what_if.task_histories import TaskHistories

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_processor.policy import Policy

LISTED = 500
"""Flagged runs that are listed."""

LOCK_SECONDS = 10.0


def what_if(
    db: str | Path,
    baseline: Policy,
    candidate: Policy,
    choice: Choice | None = None,
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
    cancel: Event | None = None,
) -> Outcome:
    """Judge stored runs under two policies and say what differs. The database is only read, some runs at a time.

    Args:
        db: the database file.
        baseline: the policy in force.
        candidate: the policy to try. Silence makes the same runs under it: `run_idle_timeout_seconds` is not compared.
        choice: which runs.
        on_progress: is told how many runs are done, of how many, after each portion.
        cancel: once it is set, the outcome is that of the runs so far.

    Raises:
        StoreError: the database cannot be read.
    """
    began = time.monotonic()
    comparing = _Comparing(resolved(db), baseline, candidate, choice or Choice(), cancel or Event())
    comparing.run(on_progress)
    return comparing.outcome(time.monotonic() - began)


class _Comparing:
    """One comparison; owned by one thread."""

    def __init__(self, db: Path, baseline: Policy, candidate: Policy, choice: Choice, cancel: Event) -> None:
        self._db = db
        self._policies = (baseline, candidate)
        self._choice = choice
        self._cancel = cancel
        self._spans = 0
        self._judged: dict[str, tuple[Judged, Judged]] = {}
        self._why: dict[str, LeftOut] = {}
        self._chosen = Chosen((), 0, ())

    def run(self, on_progress: Callable[[int, int], None]) -> None:
        """Read and judge."""
        histories = self._begin()
        baseline, candidate = (Judging(policy, histories) for policy in self._policies)
        wanted = {run.run_id for run in self._chosen.runs}
        for portion in portions(self._db, self._affordable(), timeout_seconds=LOCK_SECONDS):
            for each in portion.too_large:
                self._leave_out(each, LeftOut.TOO_LARGE)
            for each, stored in portion.runs:
                if self._cancel.is_set():
                    return
                self._compare(each, stored, baseline, candidate)
            on_progress(len(wanted & (self._judged.keys() | self._why.keys())), len(wanted))
            if self._cancel.is_set():
                return

    def _begin(self) -> TaskHistories:
        connection = open_read_only(self._db, timeout_seconds=LOCK_SECONDS)
        try:
            self._chosen = choose(connection, self._choice)
            if not self._chosen.runs or not any(Pattern.SPEND_SPIKE in policy.patterns for policy in self._policies):
                return TaskHistories()
            tasks = (run.task for run in self._chosen.runs if run.task is not None)
            return TaskHistories.read(connection, tasks, max(run.started_ns for run in self._chosen.runs))
        finally:
            connection.close()

    def _affordable(self) -> list[Together]:
        """Return what is judged, the latest first, up to the bound on spans."""
        room = self._choice.bounded_spans
        taken = []
        for each in self._chosen.together:
            if each.spans > room:
                self._leave_out(each, LeftOut.TOO_MANY_SPANS)
                continue
            room -= each.spans
            taken.append(each)
        return taken

    def _compare(self, each: Together, stored: StoredRuns, baseline: Judging, candidate: Judging) -> None:
        try:
            spans = stored.spans()
            before, after = baseline.judge(each, spans), candidate.judge(each, spans)
        except Exception:  # noqa: BLE001 - our own bug costs what it is about and nothing else
            report_bug("what-if")
            self._leave_out(each, LeftOut.BUG)
            return
        self._spans += len(spans)
        for run_id in each.run_ids:
            if run_id in before and run_id in after:
                self._judged[run_id] = before[run_id], after[run_id]
            else:
                self._why[run_id] = LeftOut.OTHERWISE

    def _leave_out(self, each: Together, why: LeftOut) -> None:
        self._why |= dict.fromkeys(each.run_ids, why)

    def outcome(self, took_seconds: float) -> Outcome:
        """Count."""
        pairs = {run.run_id: self._judged[run.run_id] for run in self._chosen.runs if run.run_id in self._judged}
        flagged = [
            RunOutcome(run.run_id, run.task, run.agent, run.started_ns, *pairs[run.run_id])
            for run in self._chosen.runs
            if run.run_id in pairs and any(judged.patterns for judged in pairs[run.run_id])
        ]
        # Sorting keeps the order of those that are equal: the latest first.
        flagged.sort(key=lambda run: not run.differs)
        before = {run.run_id for run in flagged if run.before.patterns}
        after = {run.run_id for run in flagged if run.after.patterns}
        return Outcome(
            runs=len(pairs),
            spans=self._spans,
            flagged_before=len(before),
            flagged_after=len(after),
            newly=len(after - before),
            no_longer=len(before - after),
            stops_before=sum(run.before.advises_stop for run in flagged),
            stops_after=sum(run.after.advises_stop for run in flagged),
            patterns=self._count_patterns(flagged),
            outcomes=tuple(flagged[:LISTED]),
            not_listed=max(len(flagged) - LISTED, 0),
            left_out=self._count_left_out(),
            took_seconds=took_seconds,
        )

    def _count_patterns(self, flagged: list[RunOutcome]) -> tuple[PatternCount, ...]:
        looked_for = {str(pattern) for policy in self._policies for pattern in policy.patterns}
        for task_types in (policy.task_types for policy in self._policies):
            looked_for |= {str(pattern) for changes in task_types.values() for pattern in changes.get("patterns", ())}
        counts = []
        for pattern in (str(pattern) for pattern in Pattern if pattern in looked_for):
            before = {run.run_id for run in flagged if pattern in run.before.patterns}
            after = {run.run_id for run in flagged if pattern in run.after.patterns}
            counts.append(PatternCount(pattern, len(before), len(after), len(after - before), len(before - after)))
        return tuple(counts)

    def _count_left_out(self) -> dict[LeftOut, int]:
        stored = {run_id for each in self._chosen.together for run_id in each.run_ids}
        counts = Counter(self._why_not(run, stored) for run in self._chosen.runs if run.run_id not in self._judged)
        if self._chosen.beyond:
            counts[LeftOut.NOT_ASKED] = self._chosen.beyond
        return {why: counts[why] for why in LeftOut if counts[why]}

    def _why_not(self, run: ChosenRun, stored: set[str]) -> LeftOut:
        return self._why.get(run.run_id) or (LeftOut.CANCELLED if run.run_id in stored else LeftOut.NO_SPANS)
