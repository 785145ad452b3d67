"""Old runs removed portion by portion, until the database is what it may be."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from otel_processor.errors import StoreError
from otel_processor.recording import pruning
from otel_processor.recording.pruning import Limits, Removed, Seen
from otel_processor.recording.turns import leaving_turns
from otel_processor.recording.writer import Writer
from otel_processor.store.database import Database
from otel_processor.store.opening import missing, open_read_only, resolved
from otel_processor.store.sizes import StoreSize, measure
from otel_processor.store.totals import recount_if_behind
from otel_processor.store.upgrading import is_older, why_unlike

if TYPE_CHECKING:
    import duckdb

    from otel_processor.retention import Retention

_PAGE = 1_000
"""Runs and traces that are looked up at once."""

_NEVER_US = 1 << 62


@dataclass(frozen=True, slots=True)
class Portion:
    """What one transaction did."""

    removed: Removed
    traces: frozenset[str]
    """That are gone."""
    is_last: bool
    """Whether there is nothing more to do."""
    is_by_size: bool = False
    """Whether it went to make room, and not for its age."""


class Retaining:
    """One pass over a database: first what is too old, then the oldest until the rest is small enough."""

    def __init__(self, retention: Retention, *, now_ns: int, idle_seconds: float) -> None:
        """Set up the pass.

        Args:
            retention: what is to be removed.
            now_ns: the time, nanoseconds since the epoch.
            idle_seconds: an open run of which something arrived within so long is going on, whatever its spans say of time.
        """
        self._max_bytes = retention.max_bytes
        now_us = now_ns // 1_000
        silent_since_us = max(now_us - int(idle_seconds * 1e6), 0)
        self._by_age: Limits | None = None
        if retention.older_than_seconds is not None:
            before_us = max(now_us - int(retention.older_than_seconds * 1e6), 0)
            self._by_age = Limits(before_us, before_us, silent_since_us)
        self._by_size = Limits(_NEVER_US, silent_since_us, silent_since_us)
        self._limits = self._by_age if self._by_age is not None else self._by_size
        self._is_by_size = self._by_age is None
        self._after: Seen | None = None
        self._taken_away = 0
        self.size: StoreSize | None = None
        """How large the database was when it was last measured."""

    @property
    def is_too_large(self) -> bool:
        """Whether the database takes more than it may, after all that could go is gone."""
        return self._max_bytes is not None and self.size is not None and self.size.live_bytes > self._max_bytes

    def step(self, connection: duckdb.DuckDBPyConnection, *, is_kept: bool = True) -> Portion:
        """Remove a portion.

        Args:
            connection: inside a write transaction in which nothing was removed yet.
            is_kept: False where the transaction is taken back: what it removes is then taken off what is measured later.
        """
        spans_at_most = pruning.SPANS_AT_ONCE
        if self._is_by_size:
            excess = self._excess(connection)
            if excess <= 0:
                return self._swept(connection)
            spans_at_most = min(spans_at_most, excess)
        candidates = pruning.oldest(connection, self._limits, after=self._after, at_most=_PAGE)
        if not candidates:
            if self._is_by_size or self._max_bytes is None:
                return self._swept(connection)
            self._limits, self._is_by_size, self._after = self._by_size, True, None
            return Portion(Removed(), frozenset(), is_last=False)
        removed, traces, last = pruning.remove(connection, candidates, self._limits, spans_at_most=spans_at_most)
        self._after = last
        self._taken_away += 0 if is_kept else removed.spans
        return Portion(removed, frozenset(traces), is_last=False, is_by_size=self._is_by_size)

    def _excess(self, connection: duckdb.DuckDBPyConnection) -> int:
        """Return about how many spans are too many."""
        self.size = size = measure(connection)
        if self._max_bytes is None or not size.spans:
            return 0
        each = size.live_bytes / size.spans
        return math.ceil((size.live_bytes - self._max_bytes) / each) - self._taken_away

    def _swept(self, connection: duckdb.DuckDBPyConnection) -> Portion:
        before_us = self._by_age.before_us if self._by_age is not None else None
        return Portion(pruning.sweep(connection, before_us), frozenset(), is_last=True)


class Prune:
    """Removes old runs from one database, as a command: a portion in each transaction, so that writers get in between."""

    def __init__(
        self,
        db: str | Path,
        retention: Retention,
        *,
        idle_seconds: float,
        dry_run: bool = False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Set up the work.

        Args:
            db: the database file.
            retention: what is to be removed.
            idle_seconds: how long nothing may have arrived of an open run.
            dry_run: only say what would be removed.
            clock: gives the time in nanoseconds since the epoch.
        """
        self._path = resolved(db)
        self._database = Database(self._path)
        self._writer = Writer(self._path)
        self._dry_run = dry_run
        self._pass = Retaining(retention, now_ns=clock(), idle_seconds=idle_seconds)
        self.removed = Removed()

    @property
    def is_too_large(self) -> bool:
        """Whether the database takes more than it may, after all that could go is gone."""
        return self._pass.is_too_large and not self._dry_run

    def run(self, *, timeout_seconds: float) -> Iterator[int]:
        """Remove everything; yields the spans that are gone after each transaction.

        Args:
            timeout_seconds: how long each transaction waits for whoever holds the file.

        Raises:
            StoreError: the database cannot be used.
        """
        if not self._path.exists():
            raise missing(self._path)
        try:
            is_last = False
            while not is_last:
                with leaving_turns():
                    portion = self._step(timeout_seconds)
                    self.removed.add(portion.removed)
                    is_last = portion.is_last
                    yield self.removed.spans
        finally:
            self._database.close()

    def size(self, *, timeout_seconds: float) -> StoreSize:
        """Return how large the database is now.

        Raises:
            StoreError: there is none, or it is none of ours.
        """
        with open_read_only(self._path, timeout_seconds=timeout_seconds) as connection:
            if (unlike := why_unlike(connection)) is not None and not is_older(connection):
                raise StoreError(f"{self._path}: {unlike}")
            return measure(connection)

    def _step(self, timeout_seconds: float) -> Portion:
        portion = Portion(Removed(), frozenset(), is_last=True)
        with contextlib.suppress(_TakenBackError), self._database.write(timeout_seconds=timeout_seconds) as connection:
            recount_if_behind(connection)
            portion = self._pass.step(connection, is_kept=not self._dry_run)
            if self._dry_run:
                raise _TakenBackError
            # Whoever remembers some of it looks again before that is used.
            self._writer.sign_in(connection)
        return portion


class _TakenBackError(Exception):
    """Nothing of a transaction is to be kept."""
