"""The recorder: batches of spans in, committed rows out, nothing lost on the way."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from otel_processor.detection.bounded import RecentMap
from otel_processor.errors import StoreBusyError, StoreError
from otel_processor.model import Alert, Reading, SpanRecord
from otel_processor.policy import Policy
from otel_processor.recording import writing
from otel_processor.recording.preparing import Batch, batch_of_columns, prepare
from otel_processor.recording.spooling import batch_of_spooled, spooled_columns
from otel_processor.runs.ledger import Ledger
from otel_processor.runs.records import Delta, without_traces
from otel_processor.store import spool
from otel_processor.store.database import Database
from otel_processor.store.status import clear_status, write_status
from otel_processor.version import package_version

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

_log = logging.getLogger(__name__)

FOLDED_AT_ONCE = 32
"""Spooled batches that one transaction takes along."""

_SECONDS_BETWEEN_WARNINGS = 60.0

_SURE = 20_000
"""Traces and runs that are remembered to be as they are stored."""

_ROUNDS = 8
"""Times that deciding anew may find yet more traces that are concerned."""

_TOLD = 10_000
"""Alerts told ahead of their spans that are remembered."""

_IMPATIENT_SECONDS = 0.2
"""How long a batch waits for the file when the one before waited in vain: the spool takes it, and the queue does not run over."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What became of the spans that one writer was given."""

    written: int = 0
    duplicates: int = 0
    cut: int = 0
    """Values shortened."""
    spooled: int = 0
    dropped: int = 0
    lock_waits: int = 0
    """Times that another process held the file."""


class Recorder:
    """Writes spans, and what is decided about them, into one database. Thread-safe: one batch at a time.

    What cannot be written now goes to the spool beside the database and is taken along by whoever writes next.
    """

    def __init__(self, db: str | Path, policy: Policy | None = None) -> None:
        self.path = Path(db).absolute()
        self._policy = policy or Policy()
        self._policy_hash = self._policy.hash
        self._database = Database(self.path)
        self._connection: duckdb.DuckDBPyConnection | None
        self._begin()
        _recorders.add(self)

    def _begin(self) -> None:
        """Start as a writer of its own: at first, and again in a forked child."""
        self._lock = threading.Lock()
        self._connection = None
        self._warned_at: dict[str, float] = {}
        self._unreachable = False
        self._waited_in_vain = False
        self._being_replaced: set[str] = set()
        self._distrust()
        self._told: RecentMap[str, bool] = RecentMap(_TOLD)
        self._ledger = Ledger(self._policy, self._lookup_conversation)
        self._writer_id = uuid.uuid4().hex
        self._started_ns = time.time_ns()
        self.counters = Counters()

    def record(
        self,
        spans: Sequence[SpanRecord],
        *,
        timeout_seconds: float,
        readings: Mapping[tuple[str, str], Reading] | None = None,
    ) -> bool:
        """Store spans; return False only if they are lost.

        Args:
            spans: any spans, in any order, delivered before or not.
            timeout_seconds: how long to wait for the file before the batch goes to the spool.
            readings: what was read of some of them already.
        """
        try:
            batch = prepare(spans, self._policy, readings)
            with self._lock:
                self._count(cut=batch.cut, dropped=batch.unusable)
                return self._store(batch, timeout_seconds) and not batch.unusable
        except Exception:  # noqa: BLE001 - our own bug costs this batch and nothing else
            self.lose(len(spans))
            return False

    def tell(self, alerts: Sequence[Alert], *, timeout_seconds: float) -> bool:
        """Store alerts at once, ahead of the spans that caused them; return False only if they are lost."""
        batch = Batch(alerts=list(alerts))
        with self._lock:
            kept = self._store(batch, timeout_seconds)
            for alert in alerts:
                self._told.put(alert.alert_id, True)
            return kept

    def lose(self, spans: int) -> None:
        """Count spans that could not even be handed over; called inside the handler of the error."""
        with self._lock:
            self._count(dropped=spans)
            self._report_bug("%d spans could not be stored and are dropped", spans)

    def fold_spool(self, *, timeout_seconds: float) -> bool:
        """Take spooled batches into the database; return whether none is left."""
        with self._lock:
            while waiting := len(spool.pending(self.path)):
                if not self._write(Batch(), timeout_seconds) or len(spool.pending(self.path)) >= waiting:
                    return False
        return True

    def close(self) -> None:
        """Let go of the database engine."""
        with self._lock:
            self._database.close()

    # One batch: into the database, else into the spool, else lost and counted.

    def _store(self, batch: Batch, timeout_seconds: float) -> bool:
        try:
            return self._write(batch, timeout_seconds) or self._spool(batch)
        except BadRowError as error:
            dropped = self.counters.dropped
            # It may have been a spooled row. If so this goes through, and the spooled batches follow one by one.
            if not self._write_in_parts(batch, timeout_seconds, error):
                return self._spool(batch)
            kept = self.counters.dropped == dropped
            self._sift_spool(timeout_seconds, error)
            return kept

    def _write_in_parts(self, batch: Batch, timeout_seconds: float, error: Exception) -> bool:
        """Find the rows that DuckDB refuses, so that they do not take their whole batch along; False: it cannot be reached."""
        try:
            return self._write(batch, timeout_seconds, fold=False)
        except BadRowError:
            if len(batch) <= 1:
                self._count(dropped=len(batch))
                if self._may_warn("row"):
                    _log.warning("a span could not be stored and is dropped: %s", error)
                return True
            middle = len(batch) // 2
            positions = range(len(batch))
            parts = [batch.pick(positions[:middle]), batch.pick(positions[middle:])]
            parts[0].alerts = batch.alerts
            return all(self._write_in_parts(part, timeout_seconds, error) for part in parts)

    def _sift_spool(self, timeout_seconds: float, error: Exception) -> None:
        """Write the spooled batches one by one, without the rows that DuckDB refuses."""
        for path in spool.pending(self.path):
            waiting = self._spooled(path)
            if waiting is not None and self._write_in_parts(waiting, timeout_seconds, error):
                spool.remove([path])

    def _write(self, batch: Batch, timeout_seconds: float, *, fold: bool = True) -> bool:
        """Write the batch and what is spooled; return False when the database cannot be reached.

        Raises:
            BadRowError: DuckDB refuses a row.
        """
        import duckdb

        before = self.counters
        if self._waited_in_vain:
            timeout_seconds = min(timeout_seconds, _IMPATIENT_SECONDS)
        together = batch
        folded: list[Path] = []
        try:
            with self._database.write(timeout_seconds=timeout_seconds, on_wait=self._waited) as connection:
                before = self.counters
                self._connection = connection
                if fold:
                    together, folded = self._with_spooled(batch)
                self._write_batch(connection, together)
                self._sign_in(connection)
        except BaseException as error:
            # The ledger may be ahead of what was committed: what it knows of these traces comes from the store next time.
            self._ledger.forget(set(together.columns["trace_id"]))
            self._distrust()
            self.counters = replace(before, lock_waits=self.counters.lock_waits)
            if isinstance(error, StoreError):
                self._waited_in_vain = isinstance(error, StoreBusyError)
                self._complain(error)
                return False
            if isinstance(error, duckdb.Error):
                raise BadRowError(str(error).splitlines()[0]) from error
            raise
        finally:
            self._connection = None
        spool.remove(folded)
        self._waited_in_vain = False
        if self._unreachable:
            self._unreachable = False
            clear_status(self.path, self._writer_id)
            _log.warning("%s can be written again", self.path)
        return True

    def _with_spooled(self, batch: Batch) -> tuple[Batch, list[Path]]:
        """Return the batch together with batches that wait in the spool, and their files."""
        paths = spool.pending(self.path)[:FOLDED_AT_ONCE]
        if not paths:
            return batch, []
        together, taken = Batch(), []
        for path in paths:
            waiting = self._spooled(path)
            if waiting is not None:
                together.extend(waiting)
                taken.append(path)
        together.extend(batch)
        return together, taken

    def _spooled(self, path: Path) -> Batch | None:
        """Return a batch that waits in the spool, or None when it is gone or makes no sense and is put aside."""
        waiting = spool.load(path)
        if waiting is None:
            return None
        try:
            return batch_of_spooled(waiting, self._policy)
        except Exception:  # noqa: BLE001 - anything may be wrong with what somebody else wrote
            spool.put_aside(path)
            return None

    def _write_batch(self, connection: duckdb.DuckDBPyConnection, batch: Batch) -> None:
        self._notice_others(connection)
        writing.write_alerts(connection, batch.alerts, told_before=self._told.__contains__)
        if not len(batch):
            return
        new = writing.insert_new_spans(connection, batch)
        self._count(written=len(new), duplicates=len(batch) - len(new))
        if not len(new):
            return
        behind = self._not_remembered(connection, new)
        delta = self._judged(new, lambda: self._ledger.apply(read for read in new.reads if read.span.trace_id not in behind))
        if delta is None:
            return
        stale = delta.stale_traces | behind | self._joined(connection, set(new.columns["trace_id"]) - behind)
        writing.write_delta(connection, without_traces(delta, stale) if stale else delta, self._policy_hash)
        anew = self._judged(new, lambda: self._decided_anew(connection, stale, new)) if stale else None
        if anew is not None:
            traces, runs, delta = anew
            writing.remove_rows(connection, traces, runs)
            writing.write_delta(connection, delta, self._policy_hash)

    def _judged(self, new: Batch, judge: Callable[[], T]) -> T | None:
        """Return what was decided, or None where a bug of ours prevents it: then the spans are kept to be judged later."""
        import duckdb

        try:
            return judge()
        except duckdb.Error:
            raise
        except Exception:  # noqa: BLE001 - the spans matter more than what we make of them
            self._ledger.forget(set(new.columns["trace_id"]))
            self._report_bug("%d spans are stored, but could not be judged", len(new))
            return None

    def _notice_others(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Trust nothing that is remembered when somebody else wrote last: it is compared with the store before it is used."""
        row = connection.execute("select last_writer from meta").fetchone()
        if row is None or row[0] != self._writer_id:
            self._distrust()
            self._ledger.forget_conversations()

    def _distrust(self) -> None:
        self._sure_traces: RecentMap[str, bool] = RecentMap(_SURE)
        self._sure_runs: RecentMap[str, int] = RecentMap(_SURE)

    def _not_remembered(self, connection: duckdb.DuckDBPyConnection, new: Batch) -> set[str]:
        """Return traces of which others stored spans, or we did before we forgot them."""
        arriving = Counter(new.columns["trace_id"])
        seen = {trace: self._ledger.spans_seen(trace) for trace in arriving}
        unsure = [trace for trace in arriving if seen[trace] is None or self._sure_traces.get(trace) is None]
        for trace in unsure:
            self._sure_traces.put(trace, True)
        if not unsure:
            return set()
        stored = writing.span_counts(connection, unsure)
        return {trace for trace in unsure if stored.get(trace, 0) - arriving[trace] != (seen[trace] or 0)}

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
        links = writing.traces_of_runs(connection, unsure)
        counts = writing.span_counts(connection, {trace for trace, _ in links} - arriving)
        joined: set[str] = set()
        for run_id, known in unsure.items():
            others = {trace for trace, run in links if run == run_id} - arriving
            if any(trace not in known or self._ledger.spans_seen(trace) != counts.get(trace) for trace in others):
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
            traces, run_ids = writing.traces_of_same_runs(connection, trace_ids)
            run_ids |= {run_id for trace in traces for run_id in self._ledger.runs_of(trace)}
            kept = writing.stored_evidence(connection, traces)
            # What arrived with this very batch is stored cut already, but was compared before.
            kept.update({(read.span.trace_id, read.span.span_id): read.kept for read in new.reads if read.kept is not None})
            self._ledger.forget(traces, run_ids)
            self._being_replaced = run_ids
            batch = batch_of_columns(writing.stored_columns(connection, traces), self._policy, kept)
            try:
                delta = self._ledger.apply(batch.reads)
            finally:
                self._being_replaced = set()
            if not delta.stale_traces:
                break
            # They turned out to share a run with traces that nobody knew to be concerned.
            trace_ids = traces | delta.stale_traces
        return traces, run_ids, delta

    def _spool(self, batch: Batch) -> bool:
        if not len(batch) and not batch.alerts:
            return True
        try:
            spool.save(self.path, spooled_columns(batch))
        except OSError as error:
            self._count(dropped=len(batch))
            self._complain(error)
            self._report(str(error))
            return False
        self._count(spooled=len(batch))
        return True

    # What is told about the writing itself.

    def _count(self, **more: int) -> None:
        self.counters = replace(self.counters, **{name: getattr(self.counters, name) + n for name, n in more.items()})

    def _waited(self) -> None:
        self._count(lock_waits=1)

    def _complain(self, error: Exception) -> None:
        """Say so in the log: at once, then at most once a minute."""
        if not isinstance(error, StoreBusyError):
            self._report(str(error))
        if not self._may_warn("store"):
            return
        if isinstance(error, StoreBusyError):
            _log.warning("%s; spans wait in %s and are taken along later", error, spool.folder_of(self.path))
        else:
            _log.warning(
                "%s; spans go to %s while that is possible, and are dropped and counted when not",
                error,
                spool.folder_of(self.path),
            )

    def _may_warn(self, about: str) -> bool:
        now = time.monotonic()
        if now - self._warned_at.get(about, -_SECONDS_BETWEEN_WARNINGS) < _SECONDS_BETWEEN_WARNINGS:
            return False
        self._warned_at[about] = now
        return True

    def _report_bug(self, message: str, *values: object) -> None:
        """Say so in the log, with the traceback: at once, then at most once a minute."""
        if self._may_warn("bug"):
            _log.exception(message, *values)

    def _report(self, reason: str) -> None:
        """Leave word for `doctor` where it can be read although the database cannot be written."""
        self._unreachable = True
        values = {
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._started_ns / 1e9)),
            "reason": reason,
            "spooled": self.counters.spooled,
            "dropped": self.counters.dropped,
        }
        write_status(self.path, self._writer_id, values)

    def _sign_in(self, connection: duckdb.DuckDBPyConnection) -> None:
        counters = self.counters
        row: dict[str, Any] = {
            "writer_id": self._writer_id,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": package_version(),
            "started_ns": self._started_ns,
            "last_write_ns": time.time_ns(),
            "written": counters.written,
            "duplicates": counters.duplicates,
            "cut": counters.cut,
            "spooled": counters.spooled,
            "dropped": counters.dropped,
            "lock_waits": counters.lock_waits,
        }
        writing.sign_in(connection, self._writer_id, {name: [value] for name, value in row.items()})

    def _lookup_conversation(self, service: str, conversation_id: str) -> tuple[str, int] | None:
        if self._connection is None:
            return None
        return writing.conversation_run(self._connection, service, conversation_id, self._being_replaced)


class BadRowError(Exception):
    """DuckDB refuses something in a batch."""


_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _begin_in_child() -> None:
    for recorder in list(_recorders):
        recorder._begin()


os.register_at_fork(after_in_child=_begin_in_child)
