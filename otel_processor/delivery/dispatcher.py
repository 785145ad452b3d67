"""The thread that sends messages: one in a process and database, started with the first thing to do."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from otel_processor.alerts.sink import send_through
from otel_processor.bug_reports import report_bug
from otel_processor.delivery.claiming import Claim, Look, look
from otel_processor.delivery.in_hand import AlertsInHand, stored_ids
from otel_processor.delivery.noting import Result, note, sent_rows
from otel_processor.delivery.telling import Telling
from otel_processor.errors import StoreBusyError, StoreError
from otel_processor.recording.ordering import note_sent_unclaimed
from otel_processor.recording.spooling import spooled_sent
from otel_processor.store import spool

if TYPE_CHECKING:
    from otel_processor.alerts.settings import AlertSettings
    from otel_processor.alerts.sink import Sink
    from otel_processor.model import Alert
    from otel_processor.recording.recorder import Recorder
    from otel_processor.store.columns import Columns

_WRITE_SECONDS = 1.0
"""So long a look waits for the file: spans of this process want it as well."""
_LAST_WRITE_SECONDS = 0.2
_SHUT_OUT_SECONDS = 2.0
"""Between two looks when the database cannot be reached."""
_USUAL_NS = 10_000_000_000
"""So long a file may be busy without a word: where several processes write, they wait for each other."""

_OFTEN_SECONDS, _SELDOM_SECONDS = 5.0, 60.0
"""While an alert is open that somebody else may end: looked after so often first, then less and less."""

_UNWRITTEN = 1_000
"""What was sent while neither the database nor the spool could be written; the oldest goes first."""

_CLOSING_PAUSE_SECONDS = 0.1

_SENDING_NS = 15_000_000_000
"""A message is not begun when less than this is left of its claim."""


class Dispatcher:
    """Claims messages that are due, sends them outside of any transaction, and notes what became of them.

    A message whose sender dies is sent by whoever looks after its claim is over: once at least, and twice only where it was
    sent and the sender died before it could say so.
    """

    def __init__(
        self,
        recorder: Recorder,
        sinks: Sequence[Sink],
        settings: AlertSettings,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Set up the dispatcher; nothing runs before there is something to do.

        Args:
            recorder: of the database, for its connection, its name as a sender, and to fold its spool.
            sinks: that messages are sent through.
            settings: limits, and where the dashboard is.
            clock: nanoseconds since the epoch.
        """
        self._recorder = recorder
        self._sinks = {sink.name: sink for sink in sinks}
        self._settings = settings
        self._plan = settings.plan(tuple(self._sinks))
        self._clock = clock
        self._begin()
        _dispatchers.add(self)

    def _begin(self) -> None:
        """Start empty: at first, and again in a forked child, whose parent sends what it claimed."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._poked = False
        self._closing = False
        self._closing_at = 0.0
        self._in_hand = AlertsInHand(self._plan, self._settings)
        self._results: list[Result] = []
        self._unwritten: list[Columns] = []
        self._pause = _OFTEN_SECONDS
        self._telling = Telling()
        self._shut_out_ns: int | None = None

    def poke(self) -> None:
        """Say that something is due; never blocks."""
        with self._changed:
            self._poked = True
            self._wake()

    def saw(self, alert: Alert) -> None:
        """Take note of an alert before it is stored, in case the database cannot be reached for long; never blocks."""
        with self._changed:
            if not self._closing:
                self._in_hand.add(alert, self._clock())
                self._wake()

    def close(self, timeout_seconds: float) -> None:
        """Send what is due, for so long at most, and end the thread."""
        with self._changed:
            self._closing = True
            self._closing_at = time.monotonic() + 0.8 * timeout_seconds
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout_seconds)

    def _wake(self) -> None:
        if self._thread is None and not self._closing:
            thread = threading.Thread(target=self._work, name="otel-processor-delivery", daemon=True)
            # At the end of the interpreter no thread can begin any more: the rows wait for another process.
            with contextlib.suppress(RuntimeError):
                thread.start()
                self._thread = thread
        self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                poked, self._poked = self._poked, False
                closing = self._closing
            if poked:
                self._pause = _OFTEN_SECONDS
            try:
                wait = self.look_once()
            except Exception:  # noqa: BLE001 - our own bug stays here
                report_bug("delivery")
                wait = _SELDOM_SECONDS
            if closing and self._is_done(wait):
                return
            if closing:
                time.sleep(min(wait or 0.0, _CLOSING_PAUSE_SECONDS))
                continue
            with self._changed:
                if not self._poked and self._closing is closing:
                    self._changed.wait(wait)

    def _is_done(self, wait: float | None) -> bool:
        """Return whether nothing is left to do before the end, or no time; what was sent is never left unsaid."""
        in_time = time.monotonic() < self._closing_at
        if in_time and (wait == 0.0 or self._results):
            return False
        rows = sent_rows(self._results)
        if rows["sink"]:
            self._keep(rows)
        return True

    def look_once(self) -> float | None:
        """Note what was sent, claim what is due and send it; return seconds until the next look, None: until poked."""
        now = self._clock()
        try:
            found = self._look(now)
        except StoreError as error:
            self._shut_out_ns = min(self._shut_out_ns or now, now)
            if now - self._shut_out_ns >= _USUAL_NS or not isinstance(error, StoreBusyError):
                self._telling.warn("store", "messages wait: %s", error)
            self._send_in_hand(now)
            return _SHUT_OUT_SECONDS
        self._shut_out_ns = None
        if found.claims:
            self._send(found.claims)
            return 0.0
        if self._in_hand.overdue(now):
            # The database can be reached, and they are not in it: somebody's spool has them.
            if self._recorder.fold_spool(timeout_seconds=_WRITE_SECONDS):
                self._forget_stored()
            self._send_in_hand(now)
            return 0.0 if self._unwritten else _SHUT_OUT_SECONDS
        return self._seconds_until_next(found, now)

    def _look(self, now: int) -> Look:
        sender = self._recorder.writer_id
        timeout = _LAST_WRITE_SECONDS if self._closing else _WRITE_SECONDS
        with self._recorder.database.write(timeout_seconds=timeout) as connection:
            results, unwritten = list(self._results), list(self._unwritten)
            note(connection, results, sender)
            for rows in unwritten:
                note_sent_unclaimed(connection, rows)
            stored = stored_ids(connection, self._in_hand.alerts())
            found = look(connection, tuple(self._sinks), self._settings, now_ns=now, sender=sender)
        del self._results[: len(results)], self._unwritten[: len(unwritten)]
        self._in_hand.forget(stored)
        self._telling.given_up(found.given_up)
        return found

    def _send(self, claims: Sequence[Claim]) -> None:
        """Send claimed messages, those that failed before last; one that is not answered ends its sink's turn."""
        silent: set[str] = set()
        for claim in claims:
            now = self._clock()
            sink = self._sinks.get(claim.sink)
            if sink is None or claim.sink in silent or now > claim.lease_ns - _SENDING_NS:
                self._results.append(Result(claim, None, now))
                continue
            outcome = send_through(sink, claim.notice)
            self._results.append(Result(claim, outcome, self._clock()))
            self._telling.tried(claim.sink, outcome)
            if not outcome.sent and not outcome.answered:
                silent.add(claim.sink)

    def _send_in_hand(self, now: int) -> None:
        """Send alerts that have waited for too long without a claim, and put what was sent where the next writer finds it."""
        rows = self._in_hand.send(self._sinks, now, self._telling.tried)
        if rows["sink"]:
            self._keep(rows)

    def _keep(self, rows: Columns) -> None:
        """Put what was sent where the next writer finds it."""
        try:
            spool.save(self._recorder.path, spooled_sent(rows))
        except OSError:
            self._unwritten.append(rows)
            del self._unwritten[:-_UNWRITTEN]

    def _forget_stored(self) -> None:
        with contextlib.suppress(StoreError), self._recorder.database.write(timeout_seconds=_WRITE_SECONDS) as connection:
            self._in_hand.forget(stored_ids(connection, self._in_hand.alerts()))

    def _seconds_until_next(self, found: Look, now: int) -> float | None:
        in_hand_ns = self._in_hand.next_ns()
        waits = [max(at - now, 0) / 1e9 + 0.001 for at in (found.next_ns, in_hand_ns) if at is not None]
        if found.awaiting:
            waits.append(self._pause)
            self._pause = min(self._pause * 1.5, _SELDOM_SECONDS)
        return min(*waits, _SELDOM_SECONDS) if waits else None


_dispatchers: weakref.WeakSet[Dispatcher] = weakref.WeakSet()


def _begin_in_child() -> None:
    for dispatcher in list(_dispatchers):
        dispatcher._begin()


os.register_at_fork(after_in_child=_begin_in_child)
