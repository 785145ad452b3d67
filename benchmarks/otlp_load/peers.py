"""Other programs that take OTLP traces, each in a venv of its own, started as their own manuals say."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.otlp_load.senders import Place
from benchmarks.otlp_load.targets import Target

CACHE = Path("~/.cache/otel_processor/peers").expanduser()
_INSTALLING_SECONDS = 900
_STARTING_SECONDS = 120


class PeerError(Exception):
    """It cannot be measured here; the message is one line."""


@dataclass(frozen=True, slots=True)
class Peer:
    """How to install, start and ask one of them."""

    name: str
    package: str
    version: str
    command: Callable[[int, Path], Sequence[str]]
    """From a port and a folder of its own to a program of its venv and what it is given."""
    environment: Callable[[int, Path], Mapping[str, str]]
    database: str
    """The SQLite file, in its folder."""
    headers: Mapping[str, str]


PEERS = (
    Peer(
        "MLflow",
        "mlflow",
        "3.17.2",
        lambda port, folder: (
            "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
            "--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", str(folder),
        ),
        lambda _, __: {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"},
        "mlflow.db",
        {"x-mlflow-experiment-id": "0"},
    ),
    Peer(
        "Phoenix",
        "arize-phoenix",
        "20.26.1",
        lambda _, __: ("phoenix", "serve"),
        lambda port, folder: {
            "PHOENIX_WORKING_DIR": str(folder), "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(_free_port()),
            "PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false",
        },
        "phoenix.db",
        {},
    ),
)  # fmt: skip


def install(peer: Peer, cache: Path) -> Path:
    """Return the programs of its venv, which is made where it is not there yet.

    Raises:
        PeerError: it cannot be installed.
    """
    venv = cache / f"{peer.package}-{peer.version}"
    done = venv / "installed"
    if done.exists():
        return venv / "bin"
    print(f"installing {peer.package} {peer.version} in {venv} …", flush=True)
    shutil.rmtree(venv, ignore_errors=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True, timeout=_INSTALLING_SECONDS)
        command = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", f"{peer.package}=={peer.version}"]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALLING_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise PeerError(f"{peer.name} cannot be installed: {said[-1] if said else error}") from None
    done.touch()
    return venv / "bin"


@contextmanager
def running(peer: Peer, programs: Path, folder: Path) -> Iterator[Target]:
    """Run it until the block ends.

    Raises:
        PeerError: it does not start.
    """
    port = _free_port()
    program, *options = peer.command(port, folder)
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("OTEL_", "PYTHON", "PHOENIX_", "MLFLOW_"))}
    env = kept | {"PATH": f"{programs}{os.pathsep}{kept.get('PATH', '')}"} | dict(peer.environment(port, folder))
    log = folder / "log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [programs / program, *options], env=env, cwd=folder, stdout=said, stderr=said, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    try:
        _wait_for(process, port, peer, log)
        db = folder / peer.database
        yield Target(peer.name, peer.version, Place(port, headers=peer.headers), process.pid, lambda: _spans(db), db)
    finally:
        _end(process)


def _wait_for(process: subprocess.Popen[bytes], port: int, peer: Peer, log: Path) -> None:
    deadline = time.monotonic() + _STARTING_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    said = log.read_text(errors="replace").strip().splitlines()
    raise PeerError(f"{peer.name} does not start: {said[-1] if said else 'it says nothing'}")


def _end(process: subprocess.Popen[bytes]) -> None:
    # Its own session: workers go with it.
    for number in (15, 9):
        try:
            os.killpg(process.pid, number)
            process.wait(20)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def _spans(db: Path) -> int:
    if not db.exists():
        return 0
    with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=60)) as connection:
        try:
            ((count,),) = connection.execute("select count(*) from spans").fetchall()
        except sqlite3.OperationalError:
            return 0
    return int(count)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
