"""The dashboard's server as a child process: started, waited for and ended."""

from __future__ import annotations

import errno
import importlib.util
import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from otel_processor.cli.app_location import app_parent, launch_module
from otel_processor.cli.group import Failure
from otel_processor.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

START_SECONDS = 30.0
STOP_SECONDS = 5.0


@contextmanager
def serving(db: Path, *, host: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Serve the dashboard while the block runs; the block begins when the page answers.

    Raises:
        ConfigError: the extra is not installed, or the address cannot be used.
        Failure: the server ended instead of answering.
    """
    require_usable(host, port, option="--port")
    with _ended_by_sigterm():
        process = start(db, host, port)
        try:
            _wait_until_it_answers(process, host, port)
            yield process
        finally:
            stop(process)


def address(host: str, port: int) -> str:
    """Return the URL under which a page on `host` is reached from this machine."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 - compared, not bound
    return f"http://{reachable}:{port}"


def require_usable(host: str, port: int, *, option: str) -> None:
    """Raise `ConfigError` where the extra is not installed, or nobody can listen there; `option` is the one to change."""
    _require_extra()
    _require_free(host, port, option)


def _require_extra() -> None:
    missing = [name for name in ("streamlit", "plotly", "pyarrow") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"the dashboard needs {', '.join(missing)}: pip install 'otel-processor[dashboard]'")


def _require_free(host: str, port: int, option: str) -> None:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            if os.name == "posix":
                # A connection of an ended server that lingers does not keep the port; a listening one does.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = f"is in use; give another one with {option}" if taken else f"cannot be used: {error.strerror or error}"
        raise ConfigError(f"port {port} on {host} {reason}") from error


def start(db: Path, host: str, port: int) -> subprocess.Popen[bytes]:
    """Start the server and return at once; it ends with this process, however that ends."""
    launch = launch_module()
    environment = launch.environment(str(db.absolute()), str(app_parent()), python_path=os.environ.get("PYTHONPATH", ""))
    # A session of its own: Ctrl-C reaches this process only, which then ends the server in order.
    return subprocess.Popen(  # noqa: S603 - our own command, no shell
        launch.command(port, host, ends_with_starter=True),
        env={"STREAMLIT_LOGGER_LEVEL": "warning", **os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _wait_until_it_answers(process: subprocess.Popen[bytes], host: str, port: int) -> None:
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104 - compared, not bound
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Failure(f"the dashboard's server ended with code {process.returncode}")
        try:
            socket.create_connection((reachable, port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise Failure(f"the dashboard did not answer on {address(host, port)} within {START_SECONDS:g} s")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the server, in order where it can; one that has ended is no error."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdin is not None:
        process.stdin.close()


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM unwind like Ctrl-C, so that the server does not outlive this process."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        # Not the main thread: whoever runs us there handles signals.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
