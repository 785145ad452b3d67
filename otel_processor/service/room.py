"""How much is under way: requests, their bytes and their spans, each with a bound."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from otel_processor.service.refused import Refused

if TYPE_CHECKING:
    from otel_processor.service.limits import Limits


class Room:
    """What the service has under way, over both doors. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._requests = 0
        self._bytes = 0
        self._spans = 0

    @property
    def held(self) -> tuple[int, int, int]:
        """Requests under way, their bytes and their spans."""
        with self._lock:
            return self._requests, self._bytes, self._spans

    def enter(self) -> Place:
        """Take a place for a request; leave it with `with`.

        Raises:
            Refused: there are too many already.
        """
        with self._lock:
            if self._requests >= self._limits.requests:
                raise Refused.full()
            self._requests += 1
        return Place(self)

    def _hold(self, more_bytes: int, more_spans: int, held_spans: int) -> None:
        with self._lock:
            if self._bytes + more_bytes > self._limits.waiting_bytes:
                raise Refused.full()
            # One request alone is taken whatever its size, or it never would be.
            if self._spans + more_spans > self._limits.waiting_spans and self._spans > held_spans:
                raise Refused.full()
            self._bytes += more_bytes
            self._spans += more_spans

    def _leave(self, held_bytes: int, held_spans: int) -> None:
        with self._lock:
            self._requests -= 1
            self._bytes -= held_bytes
            self._spans -= held_spans


class Place:
    """What one request holds of the room; used by one thread at a time."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._bytes = 0
        self._spans = 0

    def hold(self, *, more_bytes: int = 0, more_spans: int = 0) -> None:
        """Keep room for more.

        Raises:
            Refused: there is not enough.
        """
        self._room._hold(more_bytes, more_spans, self._spans)
        self._bytes += more_bytes
        self._spans += more_spans

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._room._leave(self._bytes, self._spans)
