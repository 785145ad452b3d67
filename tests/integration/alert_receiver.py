"""A receiver of messages about alerts: a real HTTP server in the test's own process."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Message:
    """What arrived."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The body."""
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass(slots=True)
class AlertReceiver:
    """A server that answers as it is told."""

    port: int = 0
    messages: list[Message] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Status and headers of the next answers; then 200."""
    hangs: threading.Event | None = None
    """While it is not set, nothing is answered."""

    @property
    def url(self) -> str:
        """Of the webhook."""
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def kinds(self) -> list[str]:
        """What the messages are about, in order of their arrival."""
        return [message.json["kind"] for message in self.messages]

    @property
    def titles(self) -> list[str]:
        """The titles, in order of their arrival."""
        return [message.json["title"] for message in self.messages]


@contextmanager
def alert_receiver(port: int = 0) -> Iterator[AlertReceiver]:
    """Receive messages until the block ends."""
    received = AlertReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            received.messages.append(Message(self.path, dict(self.headers.items()), body))
            if received.hangs is not None:
                received.hangs.wait(30)
            status, headers = received.answers.pop(0) if received.answers else (200, {})
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", port), Handler)
    received.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield received
    finally:
        if received.hangs is not None:
            received.hangs.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
