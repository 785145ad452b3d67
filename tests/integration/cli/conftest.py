"""Real database files for the command line's tests."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from otel_processor.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def runner() -> CliRunner:
    """A runner without the caller's own database in its environment."""
    return CliRunner(env={"OTEL_PROCESSOR_DB": None, "COLUMNS": "120"})


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """An empty database of ours."""
    path = tmp_path / "agents.duckdb"
    with Database(path).write(timeout_seconds=5):
        pass
    return path


@contextmanager
def held(path: Path) -> Iterator[int]:
    """Let another process hold the database for writing; gives its process id."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline().strip() == "held"
        yield process.pid
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()
