"""An agent in Python → Rotel, a forwarder written in Rust → `serve` → SQL. `make clients` installs it."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import sysconfig
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from tests.clients.agent import TURNS
from tests.clients.told import SERVICE, TOKEN, assert_told
from tests.collector.collecting import free_ports
from tests.integration import processes
from tests.integration.service.serving import serving
from tests.integration.stored import eventually, stored_ids

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(importlib.util.find_spec("rotel") is None, reason="needs Rotel: `make clients`"),
]


@contextmanager
def forwarding(folder: Path, service_port: int, protocol: str) -> Iterator[subprocess.Popen[str]]:
    """Run an agent with its forwarder until the block ends."""
    grpc, http = free_ports(2)
    pid_file = folder / "rotel.pid"
    env = processes.environment(
        {
            "ROTEL_OTLP_GRPC_ENDPOINT": f"127.0.0.1:{grpc}",
            "ROTEL_OTLP_HTTP_ENDPOINT": f"127.0.0.1:{http}",
            "ROTEL_PID_FILE": str(pid_file),
            "ROTEL_LOG_FILE": str(folder / "rotel.log"),
            "SERVICE": f"http://127.0.0.1:{service_port}",
            "SERVICE_PROTOCOL": protocol,
            "SERVICE_TOKEN": TOKEN,
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{grpc}",
            # It is linked against libpython, which not every Python has where the system looks.
            "LD_LIBRARY_PATH": f"{sysconfig.get_config_var('LIBDIR')}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        }
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.clients.rotel_agent"],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)
        # It is a daemon of its own, and outlives the agent.
        if pid_file.exists() and (number := pid_file.read_text().strip()):
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)


def said(agent: subprocess.Popen[str]) -> list[str]:
    """The ids of the spans that the agent made."""
    assert agent.stdout is not None
    return [agent.stdout.readline().strip() for _ in range(1 + 2 * TURNS)]


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_what_the_forwarder_holds_while_the_service_is_away(db: Path, tmp_path: Path, protocol: str) -> None:
    """It sends until it is told that they are stored."""
    (port,) = free_ports(1)
    with forwarding(tmp_path, port, protocol) as agent:
        ids = said(agent)
        with serving(db, env=SERVICE, **{protocol: port}):
            eventually(lambda: db.exists() and len(stored_ids(db)) >= len(ids), seconds=60, what="what it held")
            out, _ = agent.communicate("\n", timeout=30)
            assert (agent.returncode, out) == (0, "")
        assert_told(db, ids)
