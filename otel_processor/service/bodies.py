"""Bodies of HTTP requests: read piece by piece, no further than they may go and no longer than they may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from otel_processor.service.refused import Refused

if TYPE_CHECKING:
    from starlette.requests import Request

    from otel_processor.service.room import Place


async def read_body(
    request: Request,
    place: Place,
    *,
    most_bytes: int,
    seconds: float,
    remedy: str = "send smaller batches",
    came: Callable[[int], object] = int,
) -> bytes:
    """Return the body of a request.

    Args:
        request: whose body was not read yet.
        place: of the request; it holds room for what has come.
        most_bytes: that it may have.
        seconds: that it may take.
        remedy: what the sender of a larger one is told.
        came: called with the size of each piece.

    Raises:
        Refused: it is too large or too slow, or there is no room for it.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > most_bytes:
        raise _too_large(most_bytes, remedy)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > most_bytes:
                    raise _too_large(most_bytes, remedy)
                place.hold(more_bytes=len(piece))
                came(len(piece))
                pieces.append(piece)
    except TimeoutError:
        raise Refused.slow(seconds) from None
    return b"".join(pieces)


def _too_large(most_bytes: int, remedy: str) -> Refused:
    return Refused.too_large(f"the body is larger than {most_bytes >> 20} MiB", remedy)
