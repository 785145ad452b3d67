"""What new spans mean, given what is stored: appended where memory is enough, decided anew where it is not (ADR 0003)."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_processor.detection.bounded import RecentMap
from otel_processor.model import Alert, History, Pattern, Role
from otel_processor.policy import Policy
from otel_processor.pricing import Pricer
from otel_processor.recording import alert_statements, looking_up, writing
from otel_processor.recording.policy_rows import write_policies
from otel_processor.recording.preparing import Batch, batch_of_columns
from otel_processor.recording.stored_traces import StoredTraces
from otel_processor.runs.conversations import StoredRun
from otel_processor.runs.ledger import Ledger
from otel_processor.runs.policies import Policies
from otel_processor.runs.records import Delta, without_traces

if TYPE_CHECKING:
    import duckdb

_SURE = 20_000
"""Traces and runs that are remembered to be as they are stored."""

_ROUNDS = 8
"""Times that deciding anew may find yet more traces that are concerned."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a batch stands to what is stored."""

    known: Set[tuple[str, str]]
    """Its spans that are stored already, by (trace id, span id)."""
    behind: Set[str]
    """Traces of which others stored spans, or we did before we forgot them."""
    unsure: Set[str]
    """Traces that the store was asked about."""


class Judge:
    """Keeps the ledger true to the store. Its recorder holds the lock; every method runs inside a write transaction."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._policies = Policies(policy).by_hash()
        self._pricer = Pricer(policy)
        self._is_ready = False
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._being_replaced: set[str] = set()
        self._over: dict[str, list[Pattern]] = {}
        self._stored_traces = StoredTraces()
        self._ledger = Ledger(policy, self._lookup_conversation, lookup_history=self._lookup_history, price=self._pricer.dollars)
        self._distrust()

    def get_ready(self, batch: Batch) -> None:
        """Load what deciding about these spans takes, while nobody waits for the database."""
        if not self._is_ready and any(read.reading.role is Role.MODEL for read in batch.reads):
            self._pricer.get_ready()
            self._is_ready = True

    def forget(self, trace_ids: set[str]) -> None:
        """Forget what was decided about these traces: it was not committed."""
        self._ledger.forget(trace_ids)
        self._distrust()

    def others_wrote(self) -> None:
        """Trust nothing that is remembered: it is compared with the store before it is used."""
        self._distrust()
        self._stored_traces.others_wrote()
        self._ledger.forget_conversations()

    def look(self, connection: duckdb.DuckDBPyConnection, batch: Batch) -> Standing:
        """Find out how a batch stands to what is stored, asking the store only where the ledger may know less."""
        arriving = set(batch.columns["trace_id"])
        seen = {trace: self._ledger.spans_seen(trace) for trace in arriving}
        unsure = {trace for trace in arriving if seen[trace] is None or self._sure_traces.get(trace) is None}
        self._stored_traces.get_ready(connection)
        sought = {trace for trace in unsure if self._stored_traces.may_hold(trace)}
        stored = looking_up.span_counts(connection, sought) if sought else {}
        self._stored_traces.add(arriving)
        ids = {trace: None if trace in unsure else self._ledger.span_ids(trace) for trace in arriving}
        # Of a trace of which nothing is stored nothing is known; of one that nobody remembers whole the store says it.
        asked = {trace for trace in arriving if (stored.get(trace, 0) if trace in unsure else ids[trace] is None)}
        keys = list(zip(batch.columns["trace_id"], batch.columns["span_id"], strict=True))
        known = {key for key in keys if key[1] in (ids[key[0]] or ())}
        if asked:
            known |= looking_up.known_spans(connection, batch.columns, [at for at, key in enumerate(keys) if key[0] in asked])
        return Standing(known, {trace for trace in unsure if stored.get(trace, 0) != (seen[trace] or 0)}, unsure)

    def decide(self, connection: duckdb.DuckDBPyConnection, new: Batch, standing: Standing | None = None) -> list[Alert]:
        """Write what newly stored spans change: calls, runs, traces and alerts; return alerts as `write_alerts` does.

        Args:
            connection: inside the transaction that stored them.
            new: the spans.
            standing: of the batch that they came with, before they were stored; None: nothing about their traces holds.
        """
        self._connection = connection
        arriving = set(new.columns["trace_id"])
        behind = arriving & standing.behind if standing else arriving
        for trace in arriving & standing.unsure if standing else arriving:
            self._sure_traces.put(trace, True)
        try:
            delta = self._ledger.apply(read for read in new.reads if read.span.trace_id not in behind)
            stale = delta.stale_traces | behind | self._joined(connection, arriving - behind)
            stale |= _traces_of(connection, delta.joined_runs)
            news = self._write_delta(connection, without_traces(delta, stale) if stale else delta)
            if stale:
                news += self.write(connection, *self._decided_anew(connection, stale, new))
            return news
        finally:
            self._connection = None

    @contextmanager
    def anew(self, connection: duckdb.DuckDBPyConnection, trace_ids: set[str]) -> Iterator[tuple[set[str], set[str], Delta]]:
        """Decide anew about stored traces and all that share a run with them; what was decided is forgotten with the block.

        Gives the traces and runs whose rows are to be replaced, and by what.
        """
        self._connection = connection
        traces: set[str] = set()
        try:
            for _ in range(_ROUNDS):
                traces, run_ids, delta = self._decided_anew(connection, trace_ids, Batch())
                # Under another policy they may go on a run that they had no part in.
                others = _traces_of(connection, {trace.run_id for trace in delta.traces} - run_ids) - traces
                if not others:
                    break
                trace_ids = traces | others
            yield traces, run_ids, delta
        finally:
            self._connection = None
            self._over = {}
            self._ledger.forget(traces)

    def take_over(self) -> dict[str, list[Pattern]]:
        """Return the patterns whose alerts are over since this was asked last, by run."""
        over, self._over = self._over, {}
        return over

    def open_patterns(self, run_id: str) -> tuple[Pattern, ...]:
        """Return the patterns of a run's alerts that are open as far as the ledger remembers."""
        tracker = self._ledger.tracker_of(run_id)
        return tracker.open_alerts if tracker is not None else ()

    def write(self, connection: duckdb.DuckDBPyConnection, trace_ids: set[str], run_ids: set[str], delta: Delta) -> list[Alert]:
        """Replace the rows of these traces and runs; return alerts as `write_alerts` does."""
        removed = writing.remove_rows(connection, trace_ids, run_ids)
        goes_on = writing.going_on(delta.runs, removed.were_over)
        # A run that is named after its loop was told takes the alert along.
        named = [
            (trace, was) for trace in delta.traces if (was := removed.were_in.get(trace.trace_id, trace.run_id)) != trace.run_id
        ]
        alert_statements.move_alerts(connection, {(trace.trace_id, was): trace.run_id for trace, was in named})
        # What was told before under another policy, or by nobody's reckoning now, has no end but the one it has.
        standing = [(run_id, str(pattern)) for run_id in goes_on for pattern in self.open_patterns(run_id)]
        alert_statements.reopen_alerts(connection, goes_on, standing)
        return self._write_delta(connection, delta)

    def _write_delta(self, connection: duckdb.DuckDBPyConnection, delta: Delta) -> list[Alert]:
        news = writing.write_delta(connection, delta, self._pricer)
        for each in delta.resolutions:
            self._over.setdefault(each.run_id, []).append(each.pattern)
        if delta.runs:
            write_policies(connection, {run.policy_hash for run in delta.runs}, self._policies)
        return news

    def _distrust(self) -> None:
        self._sure_traces: RecentMap[str, bool] = RecentMap(_SURE)
        self._sure_runs: RecentMap[str, int] = RecentMap(_SURE)

    def _joined(self, connection: duckdb.DuckDBPyConnection, arriving: set[str]) -> set[str]:
        """Return the traces of runs over several traces of which the ledger does not know all that is stored."""
        unsure: dict[str, set[str]] = {}
        for trace in arriving:
            for run_id in self._ledger.runs_of(trace) - arriving:
                known = self._ledger.traces_of(run_id)
                if len(known) < (self._sure_runs.get(run_id) or _SURE):
                    unsure[run_id] = known
                self._sure_runs.put(run_id, len(known))
        if not unsure:
            return set()
        links = looking_up.traces_of_runs(connection, unsure)
        # What is remembered and stored no more counts as well: somebody removed it.
        counts = looking_up.span_counts(connection, {trace for trace, _ in links}.union(*unsure.values()) - arriving)
        joined: set[str] = set()
        for run_id, known in unsure.items():
            others = ({trace for trace, run in links if run == run_id} | known) - arriving
            if any(trace not in known or self._ledger.spans_seen(trace) != counts.get(trace, 0) for trace in others):
                joined |= others | (known & arriving)
        return joined

    def _decided_anew(
        self, connection: duckdb.DuckDBPyConnection, trace_ids: set[str], new: Batch
    ) -> tuple[set[str], set[str], Delta]:
        """Decide anew about these traces and all that share a run with them, from their stored spans.

        Returns:
            the traces and runs whose rows are to be replaced, and by what.
        """
        for _ in range(_ROUNDS):
            traces, run_ids = looking_up.traces_of_same_runs(connection, trace_ids)
            run_ids |= {run_id for trace in traces for run_id in self._ledger.runs_of(trace)}
            kept = looking_up.stored_evidence(connection, traces)
            # What arrived with this very batch is stored cut already, but was compared before.
            kept.update({(read.span.trace_id, read.span.span_id): read.kept for read in new.reads if read.kept is not None})
            self._ledger.forget(traces, run_ids)
            self._being_replaced = run_ids
            batch = batch_of_columns(looking_up.stored_columns(connection, traces), self._policy, kept)
            try:
                delta = self._ledger.apply(batch.reads)
            finally:
                self._being_replaced = set()
            if not delta.stale_traces:
                break
            # They turned out to share a run with traces that nobody knew to be concerned.
            trace_ids = traces | delta.stale_traces | _traces_of(connection, delta.joined_runs)
        return traces, run_ids, delta

    @property
    def put_away(self) -> int:
        """How many runs were forgotten to make room for others."""
        return self._ledger.put_away

    def _lookup_history(self, task: str, before_ns: int, least: int) -> History | None:
        if self._connection is None:
            return None
        return looking_up.task_history(self._connection, task, before_ns, least, self._being_replaced)

    def _lookup_conversation(self, service: str, conversation_id: str) -> list[StoredRun]:
        if self._connection is None:
            return []
        return looking_up.conversation_runs(self._connection, service, conversation_id, self._being_replaced)


def _traces_of(connection: duckdb.DuckDBPyConnection, run_ids: set[str]) -> set[str]:
    return {trace_id for trace_id, _ in looking_up.traces_of_runs(connection, run_ids)} if run_ids else set()
