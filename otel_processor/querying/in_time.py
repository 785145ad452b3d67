"""Work on a database connection that Ctrl-C and a time limit can end."""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

from otel_processor.errors import QueryStoppedError

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

T = TypeVar("T")

GLANCE_SECONDS = 0.1


class InTime:
    """Runs DuckDB in a thread of its own: inside of it, a long query may not see a signal until it is done.

    Args:
        connection: used by that thread only, from now on.
        timeout_seconds: for everything together.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, timeout_seconds: float) -> None:
        self._connection = connection
        self._timeout_seconds = timeout_seconds
        self._deadline = time.monotonic() + timeout_seconds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="otel-processor-sql")
        # Also while nobody asks: who reads our output slowly must not keep writers from the file.
        self._watch = threading.Timer(timeout_seconds + GLANCE_SECONDS, self._let_go)
        self._watch.daemon = True
        self._watch.start()

    def do(self, work: Callable[[], T]) -> T:
        """Return what `work` returns.

        Raises:
            QueryStoppedError: the time is over; the query was stopped.
        """
        if time.monotonic() > self._deadline:
            raise self._too_late()
        future = self._thread.submit(work)
        try:
            # Short waits: on Windows a long one would not notice Ctrl-C either.
            while not wait([future], timeout=GLANCE_SECONDS).done:
                if time.monotonic() > self._deadline:
                    self._end(future)
                    raise self._too_late()
        except KeyboardInterrupt:
            self._end(future)
            raise
        return future.result()

    def _too_late(self) -> QueryStoppedError:
        return QueryStoppedError(f"the query took longer than {self._timeout_seconds:g} s and was stopped")

    def close(self) -> None:
        """End the thread."""
        self._watch.cancel()
        self._thread.shutdown()

    def _let_go(self) -> None:
        with contextlib.suppress(Exception):
            self._connection.interrupt()
            self._connection.close()

    def _end(self, future: Future[T]) -> None:
        while not future.done():
            # Again and again: an interrupt between two statements stops nothing.
            self._connection.interrupt()
            wait([future], timeout=GLANCE_SECONDS)
