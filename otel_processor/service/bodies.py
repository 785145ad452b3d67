"""Bodies of HTTP requests: read piece by piece, no further than they may go and no longer than they may take."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect

from otel_processor.service.refused import Refused

if TYPE_CHECKING:
    from starlette.requests import Request

    from otel_processor.service.room import Place

_DISCARDED_BYTES: Final = 16 << 20
"""Of a body beyond what it may have, that are read and thrown away, so that its sender comes to read why it was refused."""

_DISCARDING_SECONDS: Final = 2.0


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
        if int(length[:20]) <= most_bytes + _DISCARDED_BYTES:
            await _discard_rest(request, most_bytes + _DISCARDED_BYTES)
        raise _too_large(most_bytes, remedy)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > most_bytes:
                    break
                place.hold(more_bytes=len(piece))
                came(len(piece))
                pieces.append(piece)
    except TimeoutError:
        raise Refused.slow(seconds) from None
    if size > most_bytes:
        pieces.clear()
        await _discard_rest(request, _DISCARDED_BYTES)
        raise _too_large(most_bytes, remedy)
    return b"".join(pieces)


async def _discard_rest(request: Request, most_bytes: int) -> None:
    """Read what still comes where the connection closes with the answer: closed over unread bytes it is reset, answer and all."""
    closes = request.headers.get("connection", "").lower() == "close" or request.scope["http_version"] == "1.0"
    if not closes or "expect" in request.headers:
        # Of a connection that stays open the server reads the rest behind its answer; who expects a word sends nothing yet.
        return
    with contextlib.suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(_DISCARDING_SECONDS):
            async for piece in request.stream():
                most_bytes -= len(piece)
                if most_bytes < 0:
                    return


def _too_large(most_bytes: int, remedy: str) -> Refused:
    return Refused.too_large(f"the body is larger than {most_bytes >> 20} MiB", remedy)
