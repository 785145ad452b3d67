"""Runs that agents elsewhere have put under guard: one LoopGuard each, by the run's id; bounded."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from otel_processor.detection.bounded import WeighedMap
from otel_processor.model import Alert, Mode, StopReason
from otel_processor.policy import Policy
from otel_processor.runs.memory import MOST_WORDS
from otel_processor.service.guard_api.hosted_guard import HostedGuard

MOST_RUNS = 10_000
"""Runs under guard; those idle longest are put away first."""


class GuardedRuns:
    """The guards, by run. Thread-safe; nothing in it waits for anything but its locks."""

    def __init__(
        self,
        policy: Policy,
        mode: Mode,
        *,
        tell: Callable[[Alert], object],
        ended: Callable[[HostedGuard], object],
        clock: Callable[[], int] = time.time_ns,
        most_runs: int = MOST_RUNS,
        look_seconds: float = 60.0,
    ) -> None:
        """Set up an empty memory.

        Args:
            policy: what runs are judged by.
            mode: how far the guard goes with them.
            tell: called with each alert, and again when it is over; must not block.
            ended: called once with each run that is over or was stopped; must not block.
            clock: nanoseconds since the epoch.
            most_runs: that are remembered.
            look_seconds: between two looks for idle runs.
        """
        self.mode = mode
        self._policy = policy
        self._tell = tell
        self._on_end = ended
        self._clock = clock
        self._lock = threading.Lock()
        self._guards: WeighedMap[str, HostedGuard] = WeighedMap(most_runs, MOST_WORDS)
        self._look_ns = int(look_seconds * 1e9)
        self._looked_ns = clock()

    def __len__(self) -> int:
        return len(self._guards)

    def find(self, run_id: str) -> HostedGuard | None:
        """Return the guard of a run, or None."""
        with self._lock:
            return self._guards.get(run_id)

    def open(self, run_id: str, trace: tuple[str, str] | None, *, again: bool = False, **about: Any) -> tuple[HostedGuard, bool]:
        """Return the guard of a run, and whether it is new.

        Args:
            run_id: of the run.
            trace: trace id and span id of whoever asks.
            again: begin anew where the run has ended.
            about: `goal`, `task`, `task_type`, `agent`: count where the guard is new; a goal also later.
        """
        self.put_away_idle()
        given = {name: said for name, said in about.items() if said is not None}
        with self._lock:
            guard = self._guards.get(run_id)
            is_new = guard is None or (again and guard.has_ended)
            if guard is None or is_new:
                guard = HostedGuard(
                    self._policy, mode=self.mode, run_id=run_id, trace=trace, tell=self._tell, clock=self._clock, **given
                )
                self._guards.put(run_id, guard)
            elif given.get("goal"):
                guard.goal = given["goal"]
            guard.last_ns = self._clock()
        return guard, is_new

    def changed(self, guard: HostedGuard) -> None:
        """Take in that something was told of a run: it may have grown, or be over."""
        with self._lock:
            self._guards.weigh(guard.run_id, guard.weight)
            is_over = (guard.has_ended or guard.stopped) and not guard.was_called_over
            guard.was_called_over |= is_over
        if is_over:
            self._on_end(guard)

    def put_away_idle(self) -> None:
        """Take runs as abandoned that nobody has asked about for too long; looks now and then, however often it is called."""
        now = self._clock()
        with self._lock:
            if self._looked_ns <= now < self._looked_ns + self._look_ns:
                return
            self._looked_ns = now
            idle = [guard for guard in self._guards.values() if now - guard.last_ns > guard.idle_ns]
            for guard in idle:
                self._guards.pop(guard.run_id)
        for guard in idle:
            guard.finish(StopReason.ABANDONED)
            self.changed(guard)
