"""Messages of gRPC calls, read a few at a time and not for ever.

gRPC holds a message in memory while it comes, before anybody of ours sees it. So calls are answered as if they were streams: who
has no token is refused unread, what waits to be read stays within the windows of its connection, and memory has a bound.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import grpc  # type: ignore[import-untyped]

from otel_processor.service.refused import Refused


class CallBodies:
    """Seats for calls whose message is being read."""

    def __init__(self, *, seats: int, seconds: float, most_bytes: int) -> None:
        """Set up the seats.

        Args:
            seats: messages that are read at the same time.
            seconds: for one message, and twice as many for a seat.
            most_bytes: that the server lets a message have.
        """
        self._seats: Final = asyncio.Semaphore(seats)
        self._seconds: Final = seconds
        self._most_bytes: Final = most_bytes

    async def read(self, context: Any) -> bytes:
        """Return the message of a call.

        Raises:
            Refused: it does not come in time, not at all, or all seats are taken.
        """
        try:
            # Longer than those before may take, so that the seats of slow ones are found free.
            async with asyncio.timeout(2 * self._seconds):
                await self._seats.acquire()
        except TimeoutError:
            raise Refused.full() from None
        try:
            async with asyncio.timeout(self._seconds):
                message = await context.read()
        except TimeoutError:
            raise Refused.slow(self._seconds) from None
        finally:
            self._seats.release()
        if message is grpc.aio.EOF:
            # gRPC itself has answered those that are too large.
            raise Refused.too_large(f"there is no message, or it is larger than {self._most_bytes >> 20} MiB")
        return bytes(message)
