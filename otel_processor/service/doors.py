"""Both doors on one event loop, on a thread of its own: the main thread waits for signals."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn

from otel_processor.bug_reports import report_bug
from otel_processor.errors import ConfigError, OtelProcessorError
from otel_processor.service.slow_senders import ImpatientLoop, ImpatientProtocol

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from otel_processor.service.grpc_door import GrpcDoor
    from otel_processor.service.limits import Limits
    from otel_processor.service.tls import Certificate

_STARTING_SECONDS = 30.0
_BACKLOG = 512
_CERTIFICATE_SECONDS = 10.0
"""Between two looks whether the files of the certificate have changed."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host in {"localhost", "::1"} or self.host.startswith("127.")


class Doors:
    """The servers. What they listen on is known once `open` returns."""

    def __init__(
        self,
        http: tuple[Starlette, Address] | None,
        grpc: tuple[GrpcDoor, Address] | None,
        limits: Limits,
        certificate: Certificate | None = None,
    ) -> None:
        self._http = http
        self._grpc = grpc
        self._limits = limits
        self._certificate = certificate
        self.addresses: dict[str, Address] = {}
        """Of `grpc` and `http`, with the ports that they got."""
        self._failure: BaseException | None = None
        self._opened = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="otel-processor-doors", daemon=True)

    @property
    def are_open(self) -> bool:
        """Whether requests are still being answered."""
        return self._thread.is_alive()

    def open(self) -> None:
        """Start to listen.

        Raises:
            ConfigError: nobody can listen there.
        """
        self._thread.start()
        if not self._opened.wait(_STARTING_SECONDS):
            raise OtelProcessorError("the servers did not start")
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Accept nothing more, and return when what was accepted is answered, or its time is over."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(self._limits.drain_seconds + 5)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=self._make_loop) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - whoever opened them is told, or the log is
            if self._opened.is_set():
                report_bug("service")
            self._failure = error
        finally:
            self._opened.set()

    def _make_loop(self) -> asyncio.AbstractEventLoop:
        loop = ImpatientLoop()
        loop.handshake_seconds = self._limits.header_seconds
        return loop

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        grpc_server: Any = None
        http_server: uvicorn.Server | None = None
        serving: asyncio.Task[None] | None = None
        if self._grpc is not None:
            door, address = self._grpc
            grpc_server, port = door.server(str(address), self._certificate)
            self.addresses["grpc"] = Address(address.host, port)
        if self._http is not None:
            app, address = self._http
            listener = _listener(address)
            self.addresses["http"] = Address(address.host, listener.getsockname()[1])
            http_server = uvicorn.Server(self._config(app))
            serving = asyncio.create_task(http_server.serve(sockets=[listener]))
        if grpc_server is not None:
            await grpc_server.start()
        while http_server is not None and not http_server.started and serving is not None and not serving.done():
            await asyncio.sleep(0.01)
        self._opened.set()
        await self._until_the_end()
        if http_server is not None:
            http_server.should_exit = True
        async with asyncio.TaskGroup() as closing:
            if grpc_server is not None:
                closing.create_task(grpc_server.stop(self._limits.drain_seconds))
            if serving is not None:
                closing.create_task(_wait(serving))

    async def _until_the_end(self) -> None:
        while True:
            try:
                async with asyncio.timeout(_CERTIFICATE_SECONDS if self._certificate is not None else None):
                    await self._ending.wait()
                    return
            except TimeoutError:
                if self._certificate is not None:
                    self._certificate.refresh()

    def _config(self, app: Starlette) -> uvicorn.Config:
        protocol = type("Protocol", (ImpatientProtocol,), {"seconds": self._limits.header_seconds})
        config = uvicorn.Config(
            app,
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=self._limits.connections,
            timeout_keep_alive=65,
            timeout_graceful_shutdown=int(self._limits.drain_seconds),
            backlog=_BACKLOG,
        )
        if self._certificate is not None:
            # Loaded, it is not looked at again: this context is the one that is used.
            config.load()
            config.ssl = self._certificate.context
        return config


async def _wait(task: asyncio.Task[None]) -> None:
    await task


def _listener(address: Address) -> socket.socket:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise ConfigError(f"nobody can listen on {address}: {error.strerror or error}; give another --http") from None
    return listener
