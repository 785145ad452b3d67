"""The command: what it says, and how it fails."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import orjson
import pytest

from tests.integration.processes import environment
from tests.integration.service.serving import JSON, Serving, serving
from tests.unit.service.certificates import Authority

if TYPE_CHECKING:
    from pathlib import Path


def serve(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the command to an end that it finds by itself."""
    command = [sys.executable, "-m", "otel_processor", "serve", *options]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)


def one_line(ended: subprocess.CompletedProcess[str]) -> str:
    (line,) = ended.stderr.strip().splitlines()[-1:]
    assert "Traceback" not in ended.stderr
    return line


def rest(service: Serving) -> list[str]:
    """What it said once it was up; it has ended."""
    lines = [service.lines.get(timeout=20)]
    while not lines[-1].startswith("ended"):
        lines.append(service.lines.get(timeout=20))
    return lines


@pytest.mark.parametrize("door", ["--http", "--grpc"])
def test_a_port_in_use_is_said_in_one_line(db: Path, door: str) -> None:
    """With the option to change."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        other = {"--http": "--grpc", "--grpc": "--http"}[door]
        ended = serve("--db", str(db), door, address, other, "off")
    assert ended.returncode == 2
    assert address in one_line(ended)
    assert door in one_line(ended)
    # gRPC's own words are not ours.
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("address", ["4318", "127.0.0.1", "127.0.0.1:70000", "127.0.0.1:x", ":1", ""])
def test_what_is_no_address_is_wrong_usage(db: Path, address: str) -> None:
    """Before anything is opened."""
    ended = serve("--db", str(db), "--http", address)
    assert ended.returncode == 2
    assert "HOST:PORT" in one_line(ended)
    assert not db.exists()


def test_without_a_door_there_is_nothing_to_serve(db: Path) -> None:
    """Both off is a mistake."""
    assert serve("--db", str(db), "--http", "off", "--grpc", "off").returncode == 2


def test_a_database_that_is_none_of_ours_is_named(db: Path) -> None:
    """The service does not start on what it can never write to."""
    with duckdb.connect(db) as connection:
        connection.execute("create table spans (a int)")
    ended = serve("--db", str(db), "--http", "127.0.0.1:0", "--grpc", "off")
    assert ended.returncode == 1
    assert "not ours" in one_line(ended)


def test_an_open_door_is_warned_of(db: Path, tmp_path: Path) -> None:
    """What strangers can do without a token, and what they can read without TLS; with both there is nothing to say."""
    with serving(db, "--http", "0.0.0.0:0") as service:
        service.terminate()
        said = rest(service)
    assert [line.split()[1] for line in said if line.startswith("Warning")] == ["anybody", "spans"]
    files = Authority.made_in(tmp_path / "authority").issue()
    token = tmp_path / "token"
    token.write_text("word")
    options = ["--token-file", str(token), "--tls-cert", str(files.cert), "--tls-key", str(files.key)]
    with serving(db, "--http", "0.0.0.0:0", *options) as service:
        service.tls = ssl.create_default_context(cafile=tmp_path / "authority" / "ca.pem")
        assert service.post(b"").status == 401
        service.terminate()
        assert not [line for line in rest(service) if line.startswith("Warning")]


def test_without_content_it_stores_hashes_and_lengths(db: Path) -> None:
    """It says so, and takes the words of the span along to nowhere."""
    attributes = [
        {"key": key, "value": {"stringValue": text}}
        for key, text in {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.call.arguments": '{"q": "where is Kowalski"}',
            "gen_ai.tool.call.result": "in Warsaw",
        }.items()
    ]
    sent = {"traceId": "1" * 32, "spanId": "2" * 16, "name": "x", "startTimeUnixNano": "1", "attributes": attributes}
    with serving(db, "--no-content") as service:
        assert service.post(orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [sent]}]}]}), JSON).status == 200
        assert service.terminate() == 0
    with duckdb.connect(str(db), read_only=True) as connection:
        ((tool, arguments, result, content),) = connection.execute(
            "select tool, arguments, result, content from calls"
        ).fetchall()
    assert (tool, content) == ("search", "off")
    assert arguments.startswith('"[withheld:')
    assert result.endswith(":9]")
    assert b"Kowalski" not in db.read_bytes()
    assert b"Warsaw" not in db.read_bytes()
