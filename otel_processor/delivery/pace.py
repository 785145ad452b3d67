"""When a message is tried again, and how many a sink gets in a minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

MOST_ATTEMPTS = 10
"""Then it is given up: some forty minutes after the first try."""

MINUTE_NS = 60_000_000_000

_FIRST_SECONDS = 5.0
_LONGEST_SECONDS = 900.0


def pause_seconds(attempts: int, retry_after: float | None, chance: Callable[[], float]) -> float:
    """Return how long to wait before the next try.

    Args:
        attempts: made so far, from 1.
        retry_after: seconds that the receiver asked for; None: nothing.
        chance: gives a number from 0 to 1: senders that failed together do not come back together.
    """
    longest = min(_FIRST_SECONDS * 2.0 ** min(max(attempts - 1, 0), 30), _LONGEST_SECONDS)
    return max(longest * (0.5 + chance() / 2), retry_after or 0.0)


class Minute:
    """What one sink got from this process within a minute; where the database is out of reach, no row says it."""

    def __init__(self, per_minute: int) -> None:
        self._sent: deque[int] = deque(maxlen=per_minute)
        self._per_minute = per_minute

    def has_room(self, now_ns: int) -> bool:
        """Return whether one more message is within the limit."""
        return len(self._sent) < self._per_minute or not 0 <= now_ns - self._sent[0] < MINUTE_NS

    def count(self, now_ns: int) -> None:
        """Count a message that is sent now."""
        self._sent.append(now_ns)
