"""How much the readers of one server may ask at once, and how many of their results it keeps."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Protocol


class Kept(Protocol):
    """What holds a result and can let go of it."""

    def let_go(self) -> None:
        """Forget the result."""


class Room:
    """Counts what runs and remembers whose results are kept; used by all sessions, so it has a lock.

    Args:
        most_running: queries at once.
        most_kept: results at once; a newer one takes the place of the oldest.
    """

    def __init__(self, *, most_running: int = 3, most_kept: int = 8) -> None:
        self._lock = threading.Lock()
        self._most_running = most_running
        self._running = 0
        # Weakly: a result whose session is over is gone without being told here.
        self._kept: deque[weakref.ref[Kept]] = deque()
        self._most_kept = most_kept

    @property
    def running(self) -> int:
        """Queries that run now."""
        with self._lock:
            return self._running

    def enter(self) -> bool:
        """Take a place, if there is one."""
        with self._lock:
            if self._running >= self._most_running:
                return False
            self._running += 1
            return True

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            self._running -= 1

    def keep(self, owner: Kept) -> None:
        """Remember who holds a result; those who hold the oldest ones let go of them."""
        with self._lock:
            self._kept.append(weakref.ref(owner))
            alive = [reference for reference in self._kept if reference() is not None]
            self._kept = deque(alive[-self._most_kept :])
            too_old = [reference() for reference in alive[: -self._most_kept]]
        for holder in too_old:
            if holder is not None:
                holder.let_go()


ROOM = Room()
"""That of this server."""
