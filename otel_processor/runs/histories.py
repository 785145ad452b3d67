"""What a task's own healthy runs used, looked up once for the runs that begin in the same minute."""

from __future__ import annotations

from collections.abc import Callable

from otel_processor.detection.bounded import RecentMap
from otel_processor.model import History, Pattern
from otel_processor.policy import Policy

HistoryLookup = Callable[[str, int, int], History | None]
"""(task, nanoseconds before which runs ended, least number of runs) → what they used."""

_REMEMBERED = 1_000
_MINUTE_NS = 60 * 1_000_000_000


class Histories:
    """Remembers what was looked up, bounded; owned by the ledger."""

    def __init__(self, look_up: HistoryLookup | None) -> None:
        self._look_up = look_up
        self._known: RecentMap[tuple[str, int, int], tuple[History | None]] = RecentMap(_REMEMBERED)

    def of(self, task: str | None, started_ns: int, policy: Policy) -> History | None:
        """Return what runs of the task used that ended before the minute in which this one began."""
        if self._look_up is None or task is None or Pattern.SPEND_SPIKE not in policy.patterns:
            return None
        key = (task, started_ns // _MINUTE_NS, policy.spend_spike_runs)
        known = self._known.get(key)
        if known is None:
            known = (self._look_up(task, key[1] * _MINUTE_NS, policy.spend_spike_runs),)
            self._known.put(key, known)
        return known[0]
