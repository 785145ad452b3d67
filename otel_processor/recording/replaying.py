"""Calls, runs and alerts made anew from the stored spans, under another policy or by another version."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from otel_processor.bug_reports import report_bug
from otel_processor.errors import StoreError
from otel_processor.policy import Policy
from otel_processor.recording import alert_statements, looking_up
from otel_processor.recording.judge import Judge
from otel_processor.recording.turns import leaving_turns
from otel_processor.recording.writer import Writer
from otel_processor.runs.ending import status_of
from otel_processor.runs.policies import Policies
from otel_processor.runs.records import RunSummary
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only, resolved
from otel_processor.store.scripts import recording_statement

if TYPE_CHECKING:
    import duckdb

    from otel_processor.runs.records import Delta

SPANS_AT_ONCE = 5_000
"""Spans whose runs are made anew in one transaction; a run that has more is made anew all the same."""

_TRACES_AT_ONCE = 500

Reasons = tuple[str, str | None]
"""(stop reason, flagged reason)"""


@dataclass(slots=True)
class Replayed:
    """What became of a replay."""

    runs: int = 0
    calls: int = 0
    spans: int = 0
    alerts_before: int = 0
    alerts_after: int = 0
    left: int = 0
    """Traces that could not be judged for a bug of ours, and are as they were."""
    resolved: int = 0
    """Alerts that were open and are not told under this policy."""
    new_by_pattern: Counter[str] = field(default_factory=Counter)
    """Alerts that were not told before."""
    resolved_by_pattern: Counter[str] = field(default_factory=Counter)
    """Those of `resolved`."""
    changes: Counter[tuple[Reasons | None, Reasons | None]] = field(default_factory=Counter)
    """(before, after) → runs, where they differ; None: there was, or is, no such run."""


class Replay:
    """Makes the rows of one database anew, a few runs in each transaction.

    Readers see each run as it was or as it is now, never half of it. What was done when it is killed is done, the rest is as it
    was; to run it again completes it. Writers get in between.
    """

    def __init__(self, db: str | Path, policy: Policy, *, dry_run: bool = False, clock: Callable[[], int] = time.time_ns) -> None:
        """Set up the replay.

        Args:
            db: the database file.
            policy: what runs are judged by.
            dry_run: only say what would become of them.
            clock: gives the time in nanoseconds since the epoch, by which open runs are idle.
        """
        self._path = resolved(db)
        self._dry_run = dry_run
        self._clock = clock
        self._policies = Policies(policy)
        self._database = Database(self._path)
        self._judge = Judge(policy)
        self._writer = Writer(self._path)
        self.outcome = Replayed()

    def run(self, *, timeout_seconds: float) -> Iterator[int]:
        """Make everything anew; yields the spans that are done after each transaction.

        Args:
            timeout_seconds: how long each transaction waits for whoever holds the file.

        Raises:
            StoreError: the database cannot be used.
        """
        outcome = self.outcome
        outcome.alerts_before = self._count_alerts()
        outcome.alerts_after = outcome.alerts_before
        try:
            for trace_ids in self._groups():
                with leaving_turns():
                    self._make_anew(trace_ids, timeout_seconds)
                    yield outcome.spans
        finally:
            self._database.close()

    # What belongs together?

    def _groups(self) -> Iterator[set[str]]:
        """Yield traces by their ids, always all of a run together."""
        after = ""
        # Only of runs over several traces: their other traces come by their own ids later.
        done: set[str] = set()
        while True:
            page, components, counts = self._page(after, done)
            if not page:
                return
            after = page[-1]
            group: set[str] = set()
            spans = 0
            for component in components:
                size = sum(counts.get(trace_id, 0) for trace_id in component)
                if group and spans + size > SPANS_AT_ONCE:
                    yield group
                    group, spans = set(), 0
                group |= component
                spans += size
                if len(component) > 1:
                    done |= component
            if group:
                yield group

    def _page(self, after: str, done: set[str]) -> tuple[list[str], list[set[str]], dict[str, int]]:
        """Return the next traces, those of them and of their runs that are to be made anew together, and their spans."""
        connection = open_read_only(self._path)
        try:
            rows = connection.execute(
                recording_statement("traces_after"), {"after": after, "at_most": _TRACES_AT_ONCE}
            ).fetchall()
            page = [trace_id for (trace_id,) in rows]
            fresh = set(page) - done
            links = looking_up.links_of_same_runs(connection, fresh)
            return (
                page,
                _components(fresh, links),
                looking_up.span_counts(connection, fresh | {trace_id for trace_id, _ in links}),
            )
        finally:
            connection.close()

    def _count_alerts(self) -> int:
        connection = open_read_only(self._path)
        try:
            return int(connection.execute("select count(*) from alerts").fetchall()[0][0])
        finally:
            connection.close()

    # One transaction.

    def _make_anew(self, trace_ids: set[str], timeout_seconds: float) -> None:
        import duckdb

        try:
            self._make_together(trace_ids, timeout_seconds)
        except (StoreError, duckdb.Error):
            raise
        except Exception:  # noqa: BLE001 - our own bug costs what it is about and nothing else
            if len(trace_ids) == 1:
                report_bug("replay")
                self.outcome.left += 1
                return
            known = sorted(trace_ids)
            middle = len(known) // 2
            for part in (known[:middle], known[middle:]):
                self._make_anew(set(part), timeout_seconds)

    def _make_together(self, trace_ids: set[str], timeout_seconds: float) -> None:
        try:
            with self._database.write(timeout_seconds=timeout_seconds) as connection:
                self._replace(connection, trace_ids)
                if self._dry_run:
                    raise _TakenBackError
                self._writer.sign_in(connection)
        except _TakenBackError:
            pass

    def _replace(self, connection: duckdb.DuckDBPyConnection, trace_ids: set[str]) -> None:
        told_before = _count_by_pattern(connection)
        with self._judge.anew(connection, trace_ids) as (traces, run_ids, delta):
            before = looking_up.run_reasons(connection, run_ids | {run.run_id for run in delta.runs})
            standing = {(run.run_id, str(pattern)) for run in delta.runs for pattern in self._judge.open_patterns(run.run_id)}
            delta.runs = [self._closed_if_idle(run) for run in delta.runs]
            self._judge.write(connection, traces, run_ids, delta)
        ends = {run.run_id: (run.ended_ns or run.last_ns) for run in delta.runs}
        unfounded = alert_statements.resolve_unfounded(connection, traces, standing, ends)
        self.outcome.resolved += len(unfounded)
        self.outcome.resolved_by_pattern.update(unfounded)
        self._note(before, delta)
        self.outcome.spans += sum(looking_up.span_counts(connection, traces).values())
        new = _count_by_pattern(connection) - told_before
        self.outcome.new_by_pattern.update(new)
        self.outcome.alerts_after += new.total()

    def _closed_if_idle(self, run: RunSummary) -> RunSummary:
        idle_ns = int(self._policies.of(run.task_type).run_idle_timeout_seconds * 1e9)
        if run.idle_reason is None or run.last_ns >= self._clock() - idle_ns:
            return run
        reason = run.idle_reason
        return replace(run, stop_reason=reason, status=status_of(reason), ended_ns=run.last_ns, idle_reason=None)

    def _note(self, before: dict[str, Reasons], delta: Delta) -> None:
        after: dict[str, Reasons] = {
            run.run_id: (str(run.stop_reason), None if run.flagged_reason is None else str(run.flagged_reason))
            for run in delta.runs
        }
        self.outcome.runs += len(after)
        self.outcome.calls += len({(call.call.trace_id, call.call.span_id) for call in delta.calls})
        for run_id in before.keys() | after.keys():
            if before.get(run_id) != after.get(run_id):
                self.outcome.changes[before.get(run_id), after.get(run_id)] += 1


class _TakenBackError(Exception):
    """Nothing of a transaction is to be kept."""


def _components(traces: set[str], links: set[tuple[str, str]]) -> list[set[str]]:
    """Return the traces in sets that share no run with one another, in the order of their ids."""
    of_run: dict[str, set[str]] = {}
    for trace_id, run_id in links:
        of_run.setdefault(run_id, set()).add(trace_id)
    component = {trace_id: {trace_id} for trace_id in traces | {trace_id for trace_id, _ in links}}
    for together in of_run.values():
        whole = set().union(*(component[trace_id] for trace_id in together))
        component |= dict.fromkeys(whole, whole)
    return [component[trace_id] for trace_id in sorted(traces) if trace_id == min(component[trace_id] & traces)]


def _count_by_pattern(connection: duckdb.DuckDBPyConnection) -> Counter[str]:
    return Counter(dict(connection.execute("select pattern, count(*) from alerts group by pattern").fetchall()))
