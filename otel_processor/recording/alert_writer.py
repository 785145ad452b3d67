"""Alerts go to the store at once, on a thread of their own: an agent that loops must not wait for a batch to fill."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import weakref
from collections.abc import Callable, Sequence

from otel_processor.model import Alert

_WAITING = 1_000
"""Alerts that may wait; what comes beyond is told with the batch of its span anyway."""


class AlertWriter:
    """Hands alerts to a function, in order, on a daemon thread that starts with the first one and again after a fork."""

    def __init__(self, write: Callable[[Sequence[Alert]], object]) -> None:
        self._write = write
        self._begin()
        _writers.add(self)

    def _begin(self) -> None:
        """Start empty: at first, and again in a forked child, whose parent writes what waits."""
        self._guard = threading.Lock()
        self._queue: queue.Queue[Alert | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self._idle = threading.Event()
        self._idle.set()
        self._closed = False

    def put(self, alert: Alert) -> None:
        """Take an alert; never blocks."""
        with self._guard:
            if self._closed:
                return
            try:
                self._idle.clear()
                self._queue.put_nowait(alert)
            except queue.Full:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="otel-processor-alerts", daemon=True)
                self._thread.start()

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until nothing waits any more; return whether that came true in time."""
        return self._idle.wait(timeout_seconds)

    def close(self, timeout_seconds: float) -> None:
        """Write what waits and end the thread."""
        self.flush(timeout_seconds)
        with self._guard:
            self._closed = True
            thread = self._thread
        if thread is not None:
            with contextlib.suppress(queue.Full):
                self._queue.put(None, timeout=timeout_seconds)
            thread.join(timeout_seconds)

    def _work(self) -> None:
        while (alert := self._queue.get()) is not None:
            alerts = [alert]
            while not self._queue.empty() and len(alerts) < _WAITING:
                more = self._queue.get()
                if more is None:
                    self._write(alerts)
                    return
                alerts.append(more)
            try:
                self._write(alerts)
            finally:
                with self._guard:
                    if self._queue.empty():
                        self._idle.set()


_writers: weakref.WeakSet[AlertWriter] = weakref.WeakSet()


def _begin_in_child() -> None:
    for writer in list(_writers):
        writer._begin()


os.register_at_fork(after_in_child=_begin_in_child)
