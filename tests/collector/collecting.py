"""A real Collector as a process of its own, with the configurations at the top of the repository."""

from __future__ import annotations

import socket
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.integration import processes
from tests.integration.stored import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIG = processes.ROOT / "collector-config.yaml"
MANY = processes.ROOT / "collector-config.many.yaml"


@dataclass(slots=True)
class Collector:
    """A Collector that can be killed and started again at the same ports, with the same queue."""

    program: str
    folder: Path
    serve_port: int
    token: str
    grpc_port: int
    http_port: int
    health_port: int
    more: tuple[Path, ...] = ()
    """Configurations that are laid over the first."""
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it says that it is there."""
        env = {
            "OTELCOL_GRPC": f"127.0.0.1:{self.grpc_port}",
            "OTELCOL_HTTP": f"127.0.0.1:{self.http_port}",
            "OTELCOL_HEALTH": f"127.0.0.1:{self.health_port}",
            "OTELCOL_STORAGE": str(self.folder / "queue"),
            "SERVE_ENDPOINT": f"http://127.0.0.1:{self.serve_port}",
            "OTEL_PROCESSOR_TOKEN": self.token,
        }
        with (self.folder / "collector.log").open("ab") as log:
            command = [self.program, *(f"--config={config}" for config in (CONFIG, *self.more))]
            self.process = subprocess.Popen(command, env=processes.environment(env), stdout=log, stderr=log)
        eventually(self._is_up, seconds=60, what="the Collector is up")

    def kill(self) -> None:
        """End it at this moment (`kill -9`)."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(30)

    @property
    def log(self) -> str:
        """What it wrote."""
        return (self.folder / "collector.log").read_text(errors="replace")

    def _is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the Collector ended:\n{self.log}"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False


@contextmanager
def collecting(program: str, folder: Path, serve_port: int, token: str, *more: Path) -> Iterator[Collector]:
    """Run a Collector until the block ends."""
    grpc, http, health = free_ports(3)
    collector = Collector(program, folder, serve_port, token, grpc, http, health, more)
    collector.start()
    try:
        yield collector
    finally:
        if collector.process is not None and collector.process.poll() is None:
            collector.kill()


def has_component(program: str, name: str) -> bool:
    """Whether the Collector was built with it."""
    said = subprocess.run([program, "components"], capture_output=True, text=True, check=True, timeout=60).stdout
    return f"name: {name}\n" in said


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on just now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
