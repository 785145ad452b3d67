"""The program as a shell sees it: exit codes, pipes, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = [sys.executable, "-m", "otel_processor"]
FOREVER = "select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3"


def run(*words: str, given: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "OTEL_PROCESSOR_DB"}
    return subprocess.run(
        [*PROGRAM, *words], input=given, cwd=folder, capture_output=True, text=True, timeout=60, env=environment, check=False
    )


def test_version() -> None:
    """`--version` names program and version."""
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("otel-processor ")


def test_help_is_the_same_under_both_names() -> None:
    """`python -m otel_processor` calls itself by the script's name."""
    assert run("--help").stdout.startswith("Usage: otel-processor ")


def test_a_query_from_a_pipe(database: Path) -> None:
    """Standard input holds the query, standard output only rows."""
    result = run("sql", "--db", str(database), "--format", "csv", "-", given="select 'ä' as x")
    assert (result.returncode, result.stdout, result.stderr) == (0, "x\nä\n", "")


@pytest.mark.parametrize(
    ("words", "code"),
    [(["sql"], 2), (["sql", "--db", "missing.duckdb", "select 1"], 2), (["doctor", "--db", "missing.duckdb"], 1), ([], 2)],
)
def test_exit_codes(words: list[str], code: int, tmp_path: Path) -> None:
    """2 for wrong usage, 1 for a problem, and never a traceback."""
    result = run(*words, folder=tmp_path)
    assert result.returncode == code
    assert "Traceback" not in result.stderr


def test_a_reader_that_goes_away_is_quiet(database: Path) -> None:
    """`otel-processor sql … | head` prints nothing on standard error."""
    words = [*PROGRAM, "sql", "--db", str(database), "--format", "csv", "select i, repeat('x', 100) from range(1000000) t(i)"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(30) == 0
    process.stderr.close()


def test_no_traceback_where_box_characters_cannot_be_shown(database: Path) -> None:
    """A terminal that knows only ASCII still gets its rows."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    words = [*PROGRAM, "sql", "--db", str(database), "select 42 as answer"]
    result = subprocess.run(words, capture_output=True, timeout=60, env=environment, check=False)
    assert result.returncode == 0
    assert b"42" in result.stdout


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_ctrl_c_is_quiet(database: Path) -> None:
    """An interrupted query ends with 130 and without a traceback."""
    process = subprocess.Popen(
        [*PROGRAM, "sql", "--db", str(database), FOREVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert told.strip() == ""
