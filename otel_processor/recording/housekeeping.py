"""What a writer does beside its batches, now and then: closes runs that are idle, removes those that are old."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from otel_processor.errors import StoreError
from otel_processor.recording import looking_up
from otel_processor.recording.closing import close_idle, count_open
from otel_processor.recording.judge import Judge
from otel_processor.recording.pruning import Removed
from otel_processor.recording.retaining import Retaining
from otel_processor.recording.writer import Writer
from otel_processor.retention import Retention
from otel_processor.runs.policies import Policies
from otel_processor.store.database import Database
from otel_processor.store.totals import recount_if_behind

_log = logging.getLogger(__name__)

_EVERY_NS = 60_000_000_000
"""Between two looks."""

_MORE_NS = 1_000_000_000
"""Between two looks for old runs while there are more to remove."""

_REMOVING_SECONDS = 0.5
"""So long one look removes old runs, and then lets spans through."""

_JUMP_NS = 3_600_000_000_000
"""A clock that has moved on by this much more than time went by may be wrong: what it calls old is not removed yet."""

_BACK_NS = 60_000_000_000
"""So far back a clock may be set by those who keep it right."""

_SETTLING_NS = 600_000_000_000
"""So long it must then go on as clocks do."""

IMPATIENT_SECONDS = 0.2
"""How long something waits for the file that can as well be done later, or put elsewhere."""


def steady_ns() -> int:
    """Return nanoseconds since some moment, by a clock that nobody sets."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns()


class Housekeeping:
    """Looks after the database in transactions of its own: no batch is lost for it. Its recorder holds the lock."""

    def __init__(
        self,
        database: Database,
        writer: Writer,
        judge: Judge,
        policies: Policies,
        retention: Retention,
        clock: Callable[[], int],
        steady: Callable[[], int] = steady_ns,
    ) -> None:
        """Set it up.

        Args:
            database: what is looked after.
            writer: who does it.
            judge: told which traces are gone.
            policies: say after how long a run is idle.
            retention: which old runs are removed.
            clock: gives the time in nanoseconds since the epoch.
            steady: gives nanoseconds that nobody sets, and that go on while the machine sleeps where that can be had.
        """
        self._steady = steady
        self._database = database
        self._writer = writer
        self._judge = judge
        self._policies = policies
        self._retention = retention
        self._clock = clock
        self._closed_ns = -_EVERY_NS
        self._removed_ns = -_EVERY_NS
        self._ahead_ns: int | None = None
        self._settled_ns = -1
        self._retaining: Retaining | None = None
        self._open_runs: int | None = None

    @property
    def open_runs(self) -> int | None:
        """Runs that were going on when idle ones were last looked for; None: not looked yet."""
        return self._open_runs

    def close_idle(self, timeout_seconds: float, *, await_arrivals: bool) -> int:
        """Close runs that are idle for too long, a portion of them, and return how many.

        Args:
            timeout_seconds: how long to wait for the file.
            await_arrivals: whether spans may still be under way.

        Raises:
            StoreError: the database cannot be reached.
        """
        with self._database.write(timeout_seconds=timeout_seconds) as connection:
            recount_if_behind(connection)
            closed = close_idle(connection, self._policies, self._clock(), await_arrivals=await_arrivals)
            self._open_runs = count_open(connection)
            return closed

    def close_idle_now_and_then(self) -> int:
        """Look for idle runs once a minute; return how many were closed."""
        now = self._clock()
        if self._closed_ns <= now < self._closed_ns + _EVERY_NS:
            return 0
        self._closed_ns = now
        try:
            return self.close_idle(IMPATIENT_SECONDS, await_arrivals=True)
        except StoreError:
            return 0
        except Exception:  # noqa: BLE001 - our own bug costs this look and nothing else
            self._writer.bug("idle runs could not be closed")
            return 0

    def remove_old_now_and_then(self) -> None:
        """Remove old runs where that is wanted: once a minute, and soon again while there are more."""
        if not self._retention.is_set:
            return
        now = self._clock()
        if self._has_jumped(now):
            return
        pause = _EVERY_NS if self._retaining is None else _MORE_NS
        if self._removed_ns <= now < self._removed_ns + pause:
            return
        self._removed_ns = now
        by_age, by_size = Removed(), Removed()
        try:
            until = time.monotonic() + _REMOVING_SECONDS
            while self._remove_some(now, by_age, by_size) and time.monotonic() < until:
                pass
        except StoreError:
            return
        except Exception:  # noqa: BLE001 - our own bug costs this look and nothing else
            self._retaining = None
            self._writer.bug("old runs could not be removed")
        finally:
            self._tell(by_age, by_size)

    def _has_jumped(self, now: int) -> bool:
        """Return whether somebody set the clock lately."""
        last, self._ahead_ns = self._ahead_ns, now - self._steady()
        if last is not None and not -_BACK_NS <= self._ahead_ns - last <= _JUMP_NS:
            self._settled_ns = now + _SETTLING_NS
        return now < self._settled_ns

    def _tell(self, by_age: Removed, by_size: Removed) -> None:
        """Log what one look removed, and why: nobody was asked."""
        reasons = {f"older than {self._retention.age}": by_age, f"so that no more than {self._retention.size} are taken": by_size}
        told = "; ".join(f"{removed}, {why}" for why, removed in reasons.items() if removed.is_anything)
        if told:
            _log.info("removed from %s %s", self._database.path, told)

    def _remove_some(self, now: int, by_age: Removed, by_size: Removed) -> bool:
        """Remove a portion of the old runs, and count it; return whether there are more."""
        if self._retaining is None:
            idle_seconds = max(self._policies.idle_seconds().values())
            self._retaining = Retaining(self._retention, now_ns=now, idle_seconds=idle_seconds)
        with self._database.write(timeout_seconds=IMPATIENT_SECONDS) as connection:
            if looking_up.last_commit(connection) != self._writer.last_commit:
                self._judge.others_wrote()
            recount_if_behind(connection)
            portion = self._retaining.step(connection)
            self._writer.sign_in(connection)
        (by_size if portion.is_by_size else by_age).add(portion.removed)
        if portion.traces:
            self._judge.forget(set(portion.traces))
        if portion.is_last:
            self._retaining = None
        return not portion.is_last
