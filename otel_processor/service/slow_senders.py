"""HTTP connections whose sender does not go on are closed: uvicorn itself waits for the head of a request without end,
and a minute for a TLS handshake.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class ImpatientLoop(asyncio.SelectorEventLoop):
    """Gives TLS connections of its servers some seconds to be made, and one to be ended; uvicorn has no setting for that."""

    handshake_seconds: float = 10.0
    goodbye_seconds: Final = 1.0
    """Senders that keep a connection for later do not answer a goodbye: the end of the service would wait for them."""

    async def create_server(self, *args: Any, ssl: Any = None, **options: Any) -> Any:
        """Make a server as asked for, with a clock for handshakes where it speaks TLS."""
        if ssl is not None:
            options |= {"ssl_handshake_timeout": self.handshake_seconds, "ssl_shutdown_timeout": self.goodbye_seconds}
        return await super().create_server(*args, ssl=ssl, **options)


class ImpatientProtocol(H11Protocol):
    """Gives a sender some seconds for the head of a request, and for the rest of a body that was answered already.

    While a request is being answered the application has a clock of its own, and between two requests uvicorn has one.
    """

    seconds: Final = 10.0
    _expiry: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Look whether the request has begun with this."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Look whether the request has ended as well."""
        super().on_response_complete()
        is_between = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        self._stop() if is_between else self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.transport.is_closing() or (self.cycle is not None and not self.cycle.response_complete):
            self._stop()
        elif self._expiry is None:
            self._expiry = self.loop.call_later(self.seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
