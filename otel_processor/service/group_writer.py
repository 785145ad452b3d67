"""One thread writes what waits, in one transaction, and then answers all whose spans were in it."""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from otel_processor.bug_reports import report_bug
from otel_processor.errors import StoreError
from otel_processor.recording.preparing import Batch
from otel_processor.service.refused import Refused
from otel_processor.store import spool

if TYPE_CHECKING:
    from otel_processor.model import SpanRecord
    from otel_processor.recording.recorder import Recorder
    from otel_processor.service.limits import Limits

_TICK_SECONDS = 1.0
"""Between two looks at the spool while nothing comes."""

_SIGN_IN_SECONDS = 60.0
"""So often the service writes although nothing came: that it is there, and runs that are idle for too long."""

_FOLDING_SECONDS = 0.2

_STAY_SECONDS = 1.0
"""So long the file is held while much waits: leaving it costs as much as writing two thousand spans."""

_SHORT_STAY_SECONDS = 0.25
"""While little waits there is time to leave it: what was stored, an alert perhaps, is seen by others only then."""

_MUCH_SPANS = 1_024

_USUAL_BYTES = 512
"""Of a small span of an agent, in protobuf; in JSON, and with the messages of a model call, it has several times as many."""

_GAP_SECONDS = 0.03
"""Then others get it: a reader that waits looks every 25 ms."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    batch: Batch
    answer: Future[int] = field(default_factory=Future)

    @property
    def spans(self) -> int:
        """How many were sent."""
        return len(self.batch) + self.batch.unusable


class GroupWriter:
    """Takes spans from any thread and stores them together. How much may wait is up to the room that callers hold."""

    def __init__(
        self,
        recorder: Recorder,
        limits: Limits,
        *,
        patience_seconds: float,
        on_commit: Callable[[float, int, str], object] = lambda *_: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up the writer; nothing is written before `start`.

        Args:
            recorder: of the database, made with `sent_again`.
            limits: how much goes into one transaction.
            patience_seconds: how long a transaction waits for whoever holds the file, before its spans go to the spool.
            on_commit: told of each transaction: its seconds, its spans, and where they went (`database`, `spool`, `none`).
            clock: gives seconds that only go on.
        """
        self._recorder = recorder
        self._limits = limits
        self._patience = patience_seconds
        self._on_commit = on_commit
        self._clock = clock
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._left_over: _Waiting | None = None
        self._lock = threading.Condition()
        self._closed = False
        self._waiting_spans = 0
        self._written_spans = 0
        self._expected_spans = 0
        self._line: deque[object] = deque()
        self._signed_in_at = -math.inf
        self._came_in_at = -math.inf
        self._could_store = True
        self._thread = threading.Thread(target=self._work, name="otel-processor-writer", daemon=True)

    @property
    def could_store(self) -> bool:
        """Whether the last spans found a place, in the database or in the spool."""
        return self._could_store

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    @contextlib.contextmanager
    def turn(self, content_bytes: int) -> Iterator[None]:
        """Wait until there is room to decode a request, and keep it for as long as the block goes on, which submits it.

        Decoded, spans take several times the memory of their bodies. So there are no more of them, those that are being written
        among them, than go into one group, except for a request that is larger by itself.

        Args:
            content_bytes: of the request, decompressed; its spans are counted only when it is decoded.
        """
        expected = content_bytes // _USUAL_BYTES
        place = object()
        with self._lock:
            # In the order in which they came: a large one would wait for ever while small ones go past it.
            self._line.append(place)
            self._lock.wait_for(lambda: self._closed or (self._line[0] is place and self._has_room_for(expected)))
            self._line.remove(place)
            self._expected_spans += expected
            self._lock.notify_all()
        try:
            yield
        finally:
            with self._lock:
                self._expected_spans -= expected
                self._lock.notify_all()

    def _has_room_for(self, more: int) -> bool:
        under_way = self._written_spans + self._waiting_spans + self._expected_spans
        return not under_way or under_way + more <= self._limits.group_spans

    def prepared(self, spans: Sequence[SpanRecord]) -> Batch:
        """Return spans as `submit` takes them; for the thread that decoded them, while this one writes others."""
        return self._recorder.prepared(spans)

    def submit(self, batch: Batch) -> Future[int]:
        """Have prepared spans stored; returns at once.

        Returns:
            when they are stored: how many of them can never be. Raises `Refused` when they could be stored nowhere.

        Raises:
            Refused: the service is ending.
        """
        waiting = _Waiting(batch)
        with self._lock:
            if self._closed:
                raise Refused.unavailable("the service is ending")
            self._waiting_spans += waiting.spans
            self._queue.put(waiting)
        return waiting.answer

    def close(self, timeout_seconds: float) -> bool:
        """Store what waits, and end; return whether that was done in time."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._lock.notify_all()
                self._queue.put(None)
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        is_open = True
        while is_open:
            group, is_open = self._next_group()
            with self._lock:
                self._written_spans = sum(waiting.spans for waiting in group)
                self._waiting_spans -= self._written_spans
                self._lock.notify_all()
            try:
                if group:
                    self._store(group)
                elif is_open:
                    self._keep_house()
            except Exception:  # noqa: BLE001 - our own bug costs this group and nothing else
                report_bug("service")
                _refuse(group, Refused.failed())
                self._leave()
            with self._lock:
                self._written_spans = 0
                self._lock.notify_all()
            self._let_others_in()
        self._leave()

    def _next_group(self) -> tuple[list[_Waiting], bool]:
        """Wait for a request and take along what waits behind it; the second value is False when no more will come."""
        try:
            first = self._left_over or self._queue.get(timeout=_TICK_SECONDS)
        except queue.Empty:
            return [], True
        self._left_over = None
        if first is None:
            return [], False
        group, size = [first], first.spans
        while size < self._limits.group_spans:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return group, False
            if size + following.spans > self._limits.group_spans:
                self._left_over = following
                break
            group.append(following)
            size += following.spans
        return group, True

    def _store(self, group: Sequence[_Waiting]) -> None:
        together = Batch()
        for waiting in group:
            together.extend(waiting.batch)
        before = self._recorder.counters
        dropped = before.dropped
        self._signed_in_at = began_at = self._clock()
        if not self._recorder.database.is_held:
            self._came_in_at = began_at
        kept = self._recorder.record_batch(together, timeout_seconds=self._patience, stay=self._stays)
        self._could_store = kept or not self._recorder.unplaced
        was_spooled = self._recorder.counters.spooled > before.spooled
        place = "none" if not self._could_store else "spool" if was_spooled else "database"
        self._on_commit(self._clock() - began_at, sum(waiting.spans for waiting in group), place)
        if kept:
            for waiting in group:
                waiting.answer.set_result(0)
        elif not self._could_store:
            _refuse(group, Refused.unavailable("the database cannot be written, and its spool neither; send it again later"))
        elif len(group) == 1:
            group[0].answer.set_result(min(self._recorder.counters.dropped - dropped, group[0].spans))
        else:
            # Whose spans were refused shows when each is stored by itself; what is stored already counts once.
            for waiting in group:
                self._store([waiting])

    def _stays(self) -> bool:
        """Return whether to keep the file for the next group."""
        longest = _STAY_SECONDS if self._waiting_spans >= _MUCH_SPANS else _SHORT_STAY_SECONDS
        return self._more_waits and self._clock() - self._came_in_at < longest

    @property
    def _more_waits(self) -> bool:
        return self._left_over is not None or not self._queue.empty()

    def _let_others_in(self) -> None:
        """Leave the file free for a moment where the next group would take it again at once."""
        if self._more_waits and not self._recorder.database.is_held:
            time.sleep(_GAP_SECONDS)

    def _leave(self) -> None:
        with contextlib.suppress(StoreError):
            self._recorder.database.leave()

    def _keep_house(self) -> None:
        """While nothing comes: take the spool along, and say now and then that this writer is there."""
        if spool.pending(self._recorder.path):
            self._recorder.fold_spool(timeout_seconds=_FOLDING_SECONDS, goes_on=lambda: not self._closed and not self._more_waits)
        if self._clock() - self._signed_in_at >= _SIGN_IN_SECONDS:
            self._signed_in_at = self._clock()
            self._recorder.record([], timeout_seconds=self._patience)


def _refuse(group: Sequence[_Waiting], refused: Refused) -> None:
    for waiting in group:
        if not waiting.answer.done():
            waiting.answer.set_exception(refused)
