"""The recorder: batches of spans in, committed rows out, nothing lost on the way."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from otel_processor.alerts.plan import NOBODY, DeliveryPlan
from otel_processor.errors import StoreBusyError, StoreError, StoreMemoryError
from otel_processor.model import Alert, Pattern, Reading, SpanRecord
from otel_processor.policy import Policy
from otel_processor.privacy.alerts import cleaned
from otel_processor.privacy.settings import Privacy
from otel_processor.recording.backlog import Backlog
from otel_processor.recording.batch_writer import BatchWriter
from otel_processor.recording.closing import AT_ONCE
from otel_processor.recording.housekeeping import IMPATIENT_SECONDS, Housekeeping
from otel_processor.recording.judge import Judge
from otel_processor.recording.parts import BadRowError, Left, TooMuchError, write_in_parts
from otel_processor.recording.preparing import Batch, prepare
from otel_processor.recording.writer import Counters, Writer
from otel_processor.retention import Retention
from otel_processor.runs.policies import Policies
from otel_processor.store import spool
from otel_processor.store.database import Database, leave_at_once
from otel_processor.store.opening import resolved


class Recorder:
    """Writes spans, and what is decided about them, into one database. Thread-safe: one batch at a time.

    What cannot be written now goes to the spool beside the database and is taken along by whoever writes next.
    """

    def __init__(
        self,
        db: str | Path,
        policy: Policy | None = None,
        *,
        plan: DeliveryPlan = NOBODY,
        on_due: Callable[[], object] | None = None,
        on_alerts: Callable[[Sequence[Alert]], object] | None = None,
        on_found: Callable[[Sequence[Alert]], object] | None = None,
        on_over: Callable[[str, Sequence[Pattern]], object] | None = None,
        sent_again: bool = False,
        retention: Retention | None = None,
        privacy: Privacy = Privacy(),  # noqa: B008 - frozen
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Set up the recorder; the file is opened with the first batch.

        Args:
            db: the database file.
            policy: what runs are judged by.
            plan: who is to be told of alerts that are new to the database; files are read for nobody.
            on_due: called when a message waits to be sent; must not block.
            on_alerts: told, once they are committed, of alerts that are new to the database or became graver; must not block.
            on_found: told likewise, of those that were found in spans here and told by nobody: neither by `tell`, nor by the
                process whose spans they are.
            on_over: told likewise of a run and the patterns whose alerts are over by its spans; must not block.
            sent_again: whoever hands over spans keeps those that find no place, and sends them again: they are not lost.
            retention: which old runs are removed meanwhile; None: none are.
            privacy: what of spans and alerts is stored.
            clock: gives the time in nanoseconds since the epoch, by which open runs become idle.
        """
        self.path = resolved(db)
        self._plan = plan
        self._on_due = on_due
        self._on_alerts = on_alerts
        self._on_found = on_found
        self._on_over = on_over
        self._sent_again = sent_again
        self._retention = retention or Retention()
        self._policy = policy or Policy()
        self.privacy = privacy
        """What of spans and alerts is stored."""
        self._policies = Policies(self._policy)
        self._clock = clock
        self.database = Database(self.path)
        """What the recorder writes to; others of this process may, between its transactions."""
        self._begin()
        _recorders.add(self)

    def _begin(self) -> None:
        """Start as a writer of its own: at first, and again in a forked child."""
        self._lock = threading.Lock()
        self._waited_in_vain = False
        self._trouble = ""
        self._unplaced = 0
        self._judge = Judge(self._policy)
        self._writer = Writer(self.path)
        self._backlog = Backlog(self.path, self._policy)
        self._batches = BatchWriter(self._judge, self._writer, self._plan, self._clock)
        self._house = Housekeeping(self.database, self._writer, self._judge, self._policies, self._retention, self._clock)

    @property
    def counters(self) -> Counters:
        """What became of the spans so far."""
        return self._writer.counters

    @property
    def writer_id(self) -> str:
        """Which writer of the database this is; another one after a fork."""
        return self._writer.writer_id

    @property
    def is_shut_out(self) -> bool:
        """Whether another process held the database for too long when it was last tried."""
        return self._waited_in_vain

    @property
    def trouble(self) -> str:
        """Why the database could not be written when it was last tried, in one line; empty where it could, or was only held."""
        return self._trouble

    @property
    def unplaced(self) -> int:
        """Spans of the last batch that neither the database nor the spool could take: nothing is wrong with them."""
        return self._unplaced

    @property
    def open_runs(self) -> int | None:
        """Runs in the database that were going on when idle ones were last looked for, once a minute; None: not looked yet."""
        return self._house.open_runs

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
            batch = prepare(spans, self._policy, readings, self.privacy)
        except Exception:  # noqa: BLE001 - our own bug costs this batch and nothing else
            self.lose(len(spans))
            return False
        return self.record_batch(batch, timeout_seconds=timeout_seconds)

    def prepared(self, spans: Iterable[SpanRecord]) -> Batch:
        """Return a batch of spans for `record_batch`: what can be done ahead, on any thread, while another one is written."""
        return prepare(spans, self._policy, None, self.privacy)

    def record_batch(self, batch: Batch, *, timeout_seconds: float, stay: Callable[[], bool] = leave_at_once) -> bool:
        """Store a prepared batch; return False only if spans of it are lost.

        Args:
            batch: as `prepared` made it.
            timeout_seconds: how long to wait for the file before the batch goes to the spool.
            stay: whether to keep the file for another batch, which follows at once (see `Database.write`).
        """
        try:
            self._judge.get_ready(batch)
            with self._lock:
                self._unplaced = 0
                self._writer.count(cut=batch.cut, dropped=batch.unusable)
                return self._store(batch, timeout_seconds, stay) and not batch.unusable
        except Exception:  # noqa: BLE001 - our own bug costs this batch and nothing else
            self.lose(len(batch) + batch.unusable)
            return False

    def tell(self, alerts: Sequence[Alert], *, timeout_seconds: float) -> bool:
        """Store alerts at once, ahead of the spans that caused them; return False only if they are lost."""
        alerts = [cleaned(alert, self.privacy) for alert in alerts]
        batch = Batch(alerts=alerts)
        with self._lock:
            kept = self._store(batch, timeout_seconds)
            self._batches.note_told(alerts)
            return kept

    def lose(self, spans: int) -> None:
        """Count spans that could not even be handed over; called inside the handler of the error."""
        with self._lock:
            self._writer.count(dropped=spans)
            self._writer.bug("%d spans could not be stored and are dropped", spans)

    def lose_in_queue(self, spans: int) -> None:
        """Count spans that ended faster than they could be stored and found no room in the queue."""
        with self._lock:
            self._writer.count(dropped=spans)
            self._writer.overrun(spans)

    def fold_spool(self, *, timeout_seconds: float, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Take spooled batches into the database; return whether none is left.

        Args:
            timeout_seconds: how long to wait for the file.
            goes_on: asked before each transaction; the rest waits where it says False.
        """
        with self._lock:
            while goes_on() and (waiting := len(self._backlog.waiting())):
                try:
                    is_written = self._write(Batch(), timeout_seconds)
                except (BadRowError, TooMuchError):
                    is_written = self._sift_backlog(timeout_seconds)
                if not is_written or len(self._backlog.waiting()) >= waiting:
                    return False
            return self._backlog.is_empty

    def close_idle(self, *, timeout_seconds: float) -> bool:
        """Close all runs that are idle by what their spans say; return False when the database cannot be reached."""
        with self._lock:
            try:
                closed = AT_ONCE
                while closed == AT_ONCE:
                    closed = self._house.close_idle(timeout_seconds, await_arrivals=False)
                    self._batches.note_closed(closed)
            except StoreError as error:
                self._writer.failed(error)
                return False
        return True

    def close(self) -> None:
        """Let go of the database engine."""
        with self._lock:
            self.database.close()

    # One batch: into the database, else into the spool, else lost and counted.

    def _store(self, batch: Batch, timeout_seconds: float, stay: Callable[[], bool] = leave_at_once) -> bool:
        try:
            return self._write(batch, timeout_seconds, stay=stay) or self._spool(batch)
        except (BadRowError, TooMuchError):
            dropped = self.counters.dropped
            # It may have been what was spooled. If so this goes through, and the spooled batches follow one by one.
            left = self._write_in_parts(batch, timeout_seconds)
            kept = self.counters.dropped == dropped
            kept &= self._spool(left.too_large, is_too_large=True)
            if not left.unreached.is_empty:
                return self._spool(left.unreached) and kept
            self._sift_backlog(timeout_seconds)
            return kept

    def _write_in_parts(self, batch: Batch, timeout_seconds: float) -> Left:
        """Write a batch as far as DuckDB takes it."""
        return write_in_parts(batch, lambda part: self._write(part, timeout_seconds, fold=False), self._writer)

    def _sift_backlog(self, timeout_seconds: float) -> bool:
        """Write the spooled batches one by one; return whether all were written."""
        return self._backlog.sift(lambda batch: self._write_in_parts(batch, timeout_seconds))

    def _write(
        self, batch: Batch, timeout_seconds: float, *, fold: bool = True, stay: Callable[[], bool] = leave_at_once
    ) -> bool:
        """Write the batch and what is spooled; return False when the database cannot be reached.

        Raises:
            BadRowError: DuckDB refuses a row.
            TooMuchError: DuckDB has too little memory for all of it at once.
        """
        import duckdb

        before = self.counters
        if self._waited_in_vain:
            timeout_seconds = min(timeout_seconds, IMPATIENT_SECONDS)
        together = batch
        folded: list[Path] = []
        self._judge.take_over()
        try:
            with self.database.write(
                timeout_seconds=timeout_seconds, on_wait=lambda: self._writer.count(lock_waits=1), stay=stay
            ) as connection:
                before = self.counters
                if fold:
                    together, folded = self._backlog.before(batch)
                self._batches.write(connection, together)
                self._writer.counters = replace(self.counters, put_away=self._judge.put_away)
                self._writer.sign_in(connection)
        except BaseException as error:
            # The ledger may be ahead of what was committed: what it knows of these traces comes from the store next time.
            self._judge.forget(set(together.columns["trace_id"]))
            self._writer.counters = replace(before, lock_waits=self.counters.lock_waits)
            if isinstance(error, StoreError):
                self._waited_in_vain = isinstance(error, StoreBusyError)
                self._trouble = "" if self._waited_in_vain else str(error).partition("\n")[0]
                if isinstance(error, StoreMemoryError):
                    raise TooMuchError(str(error)) from error
                self._writer.failed(error)
                return False
            if isinstance(error, duckdb.Error):
                raise BadRowError(str(error).splitlines()[0]) from error
            raise
        spool.remove(folded)
        self._waited_in_vain = False
        self._trouble = ""
        self._writer.reached()
        self._batches.note_closed(self._house.close_idle_now_and_then())
        self._tell_owner()
        if self._batches.is_due and self._on_due is not None:
            self._on_due()
        self._house.remove_old_now_and_then()
        return True

    def _tell_owner(self) -> None:
        """Say what was committed."""
        if self._batches.news and self._on_alerts is not None:
            self._on_alerts(self._batches.news)
        if self._batches.found and self._on_found is not None:
            self._on_found(self._batches.found)
        if self._on_over is not None:
            for run_id, patterns in self._judge.take_over().items():
                self._on_over(run_id, patterns)

    def _spool(self, batch: Batch, *, is_too_large: bool = False) -> bool:
        if batch.is_empty:
            return True
        try:
            self._backlog.add(batch, self._plan, is_too_large=is_too_large)
        except OSError as error:
            self._unplaced += len(batch)
            self._writer.count(dropped=0 if self._sent_again else len(batch))
            self._writer.failed(error)
            return False
        self._writer.count(spooled=len(batch))
        return True


_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _begin_in_child() -> None:
    for recorder in list(_recorders):
        recorder._begin()


os.register_at_fork(after_in_child=_begin_in_child)
