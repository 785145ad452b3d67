"""`otel-processor dashboard`: a real server, started and ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from otel_processor.cli import cli
from otel_processor.cli.app_location import app_parent, launch_module
from otel_processor.cli.page import address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("streamlit")


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_pages_are_found() -> None:
    """The folder holds the app that the launcher names."""
    launch = launch_module()
    assert (app_parent() / "dashboard" / "app.py").samefile(launch.APP)
    assert str(launch.APP) in launch.command(8501, "127.0.0.1")


def test_a_port_in_use_is_said_in_a_line(taken: int, tmp_path: Path) -> None:
    """Nothing is started, and the remedy is named."""
    result = CliRunner().invoke(cli, ["dashboard", "--db", str(tmp_path / "a.duckdb"), "--port", str(taken)])
    assert result.exit_code == 2
    assert result.stderr == f"Error: port {taken} on 127.0.0.1 is in use; give another one with --port\n"


def test_an_address_of_somebody_else_is_said_in_a_line(tmp_path: Path) -> None:
    """A host that this machine does not have cannot be listened on."""
    result = CliRunner().invoke(cli, ["dashboard", "--db", str(tmp_path / "a.duckdb"), "--host", "203.0.113.7"])
    assert result.exit_code == 2
    assert "cannot be used" in result.stderr


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Streamlit the pip command is told."""
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if "site-packages" not in folder])
    monkeypatch.delitem(sys.modules, "streamlit", raising=False)
    monkeypatch.delitem(sys.modules, "plotly", raising=False)
    result = CliRunner().invoke(cli, ["dashboard", "--db", str(tmp_path / "a.duckdb")])
    assert result.exit_code == 2
    assert "pip install 'otel-processor[dashboard]'" in result.stderr


def test_address() -> None:
    """What is told is what a browser on this machine can open."""
    assert address("127.0.0.1", 1) == "http://127.0.0.1:1"
    assert address("0.0.0.0", 1) == "http://127.0.0.1:1"
    assert address("::1", 1) == "http://[::1]:1"


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_and_ends(tmp_path: Path, sent: signal.Signals) -> None:
    """The page answers though there is no database yet; a signal ends it quietly, and the port is free again."""
    port = free_port()
    words = [sys.executable, "-m", "otel_processor", "dashboard", "--db", str(tmp_path / "a.duckdb"), "--port", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith(f"Dashboard of {tmp_path / 'a.duckdb'} on http://127.0.0.1:{port} ")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=20) as answer:
            assert answer.status == 200
    finally:
        process.send_signal(sent)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Traceback" not in told
    assert told.strip() == ""
    deadline = time.monotonic() + 5
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return
        assert time.monotonic() < deadline
