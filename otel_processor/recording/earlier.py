"""Runs that were going on before this process began: how they stood, made of their stored spans."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path

from otel_processor.policy import Policy
from otel_processor.recording import looking_up
from otel_processor.recording.preparing import batch_of_columns
from otel_processor.runs.conversations import StoredRun
from otel_processor.runs.ledger import Ledger
from otel_processor.runs.tracker import RunTracker
from otel_processor.store.opening import open_read_only, resolved

_log = logging.getLogger(__name__)

_RUNS = 10_000
"""Runs that are known to have been going on, the latest ones."""

_SPANS = 2_048
"""Spans of a run that are looked at, the latest ones: those of some 500 calls."""

_WAITING = 64
"""Runs that may wait to be made anew; beyond that they begin anew."""

_OPEN_SECONDS = 1.0


@dataclass(slots=True)
class _Known:
    """What was going on when this process began."""

    runs: dict[str, StoredRun] = field(default_factory=dict)
    conversations: dict[tuple[str, str], list[StoredRun]] = field(default_factory=dict)
    """(service, conversation id) → its runs, the latest first."""


class EarlierRuns:
    """Makes the trackers of runs anew that this process goes on with. Thread-safe; never raises, and never waits for the file.

    One thread asks the store, first what was going on at all: a run that began here costs a look into a dictionary. It starts
    with the first question, so that a process whose runs all begin in it never opens the file for this.
    """

    def __init__(self, db: str | Path, policy: Policy, *, clock: Callable[[], int] = time.time_ns) -> None:
        """Set up; nothing is read yet.

        Args:
            db: the database file.
            policy: what runs are judged by.
            clock: gives the time in nanoseconds since the epoch.
        """
        self._path = resolved(db)
        self._policy = policy
        self._began_ns = clock()
        self._pid = os.getpid()
        self._guard = threading.Lock()
        self._started = False
        self._known: Future[_Known] = Future()
        self._asked: queue.Queue[tuple[str, Future[RunTracker | None]] | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self._closed = False
        _all.add(self)

    def start(self) -> None:
        """Begin to look, in the background; does nothing when that was begun."""
        if self._started or os.getpid() != self._pid:
            return
        with self._guard:
            if self._started:
                return
            self._started = True
            self._thread = threading.Thread(target=self._work, name="otel-processor-earlier", daemon=True)
            self._thread.start()

    def look(self, wait_seconds: float) -> None:
        """Wait until it is known which runs there were, no longer than that."""
        self.start()
        wait([self._known], wait_seconds)

    def run_of_conversation(self, service: str, conversation_id: str, start_ns: int) -> str | None:
        """Return the run of a conversation that a call which begins then goes on with, or None; returns at once.

        Args:
            service: that the call belongs to.
            conversation_id: the conversation.
            start_ns: when the call began, nanoseconds since the epoch.
        """
        if not self._known.done():
            return None
        idle_ns = int(self._policy.run_idle_timeout_seconds * 1e9)
        runs = self._known.result().conversations.get((service, conversation_id), ())
        return next((run_id for run_id, _, last_ns in runs if start_ns - last_ns <= idle_ns), None)

    def recall(self, run_id: str) -> Future[RunTracker | None] | None:
        """Return how a run stood before this process, once that is known; None: it did not exist."""
        self.start()
        if self._closed or os.getpid() != self._pid or (self._known.done() and run_id not in self._known.result().runs):
            return None
        answer: Future[RunTracker | None] = Future()
        try:
            self._asked.put_nowait((run_id, answer))
        except queue.Full:
            return None
        return answer

    def close(self, timeout_seconds: float) -> None:
        """End the thread after what it is at: DuckDB does not bear that the interpreter goes away under it."""
        self._closed = True
        if self._thread is None or os.getpid() != self._pid:
            return
        with contextlib.suppress(queue.Full):
            self._asked.put_nowait(None)
        self._thread.join(timeout_seconds)

    # On its own thread.

    def _work(self) -> None:
        known = _Known()
        try:
            known = self._look()
        except Exception:  # noqa: BLE001 - a run then begins anew, which is what it did without us
            _log.warning("what was going on in %s before this process cannot be told", self._path, exc_info=True)
        self._known.set_result(known)
        while (asked := self._asked.get()) is not None:
            run_id, answer = asked
            tracker = None
            if self._closed:
                answer.set_result(None)
                continue
            try:
                stored = known.runs.pop(run_id, None)
                tracker = self._made_anew(stored) if stored is not None else None
            except Exception:  # noqa: BLE001 - likewise
                _log.warning("how the run %s stood before this process cannot be told", run_id, exc_info=True)
            answer.set_result(tracker)

    def _look(self) -> _Known:
        known = _Known()
        if not self._path.exists():
            return known
        since_us = self._began_ns // 1_000 - int(self._policy.run_idle_timeout_seconds * 1e6)
        connection = open_read_only(self._path, timeout_seconds=_OPEN_SECONDS)
        try:
            rows = looking_up.lately_seen_runs(connection, since_us=max(since_us, 0), at_most=_RUNS)
        finally:
            connection.close()
        for run_id, service, first_ns, last_ns, conversation_id in rows:
            known.runs[run_id] = (run_id, first_ns, last_ns)
            if conversation_id is not None:
                known.conversations.setdefault((service or "", conversation_id), []).append(known.runs[run_id])
        return known

    def _made_anew(self, stored: StoredRun) -> RunTracker | None:
        run_id = stored[0]
        connection = open_read_only(self._path, timeout_seconds=_OPEN_SECONDS)
        try:
            traces = {trace_id for trace_id, _ in looking_up.traces_of_runs(connection, [run_id])}
            columns = looking_up.latest_columns(connection, traces, before_ns=self._began_ns, at_most=_SPANS)
            kept = looking_up.stored_evidence(connection, traces)
        finally:
            connection.close()
        ledger = Ledger(self._policy, lambda _service, _conversation: _only(stored))
        ledger.apply(batch_of_columns(columns, self._policy, kept).reads)
        return ledger.tracker_of(run_id)


def _only(stored: StoredRun) -> Sequence[StoredRun]:
    return [stored]


_all: weakref.WeakSet[EarlierRuns] = weakref.WeakSet()
_EXIT_SECONDS = 2.0


@atexit.register
def _close_all() -> None:
    for runs in list(_all):
        runs.close(_EXIT_SECONDS)
