"""`otel-processor demo --headless`: the whole pipeline, from a framework's spans to SQL."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import duckdb
import pytest
from click.testing import CliRunner

from otel_processor.cli import cli

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pydantic_ai")

LOOPING = {"find-churn-report", "read-article", "find-invoice"}
HEALTHY = {"compare-engines", "watch-export", "fix-tests", "export-orders", "publish-report"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str], float]:
    """One short showing: the database, what was said, and how long it took."""
    db = tmp_path_factory.mktemp("demo") / "agents.duckdb"
    began = time.monotonic()
    result = subprocess.run(
        [sys.executable, "-m", "otel_processor", "demo", "--headless", "--db", str(db), "--seconds", "8"],
        capture_output=True,
        text=True,
        timeout=90,
        env={name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
        check=False,
    )
    return db, result, time.monotonic() - began


def test_it_ends_well_in_time(played: tuple[Path, subprocess.CompletedProcess[str], float]) -> None:
    """Exit code 0, nothing on standard error, in under 45 seconds."""
    _, result, seconds = played
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr == ""
    assert seconds < 45


def test_loops_are_found_and_healthy_tasks_are_not(played: tuple[Path, subprocess.CompletedProcess[str], float]) -> None:
    """Every looping task has an alert, no healthy one has."""
    db, _, _ = played
    connection = duckdb.connect(str(db), read_only=True)
    flagged = {task for (task,) in connection.execute("select distinct task from alerts").fetchall()}
    tasks = {task for (task,) in connection.execute("select distinct task from runs").fetchall()}
    connection.close()
    assert flagged == LOOPING
    assert tasks == LOOPING | HEALTHY


def test_alerts_are_told_while_agents_run(played: tuple[Path, subprocess.CompletedProcess[str], float]) -> None:
    """Each alert is a line with its time, most of them well before the end."""
    _, result, _ = played
    times = [float(found) for found in re.findall(r"^ *(\d+\.\d) s  ALERT ", result.stdout, re.MULTILINE)]
    ends = [float(found) for found in re.findall(r"^ *(\d+\.\d) s  ", result.stdout, re.MULTILINE)]
    assert len(times) >= 3
    assert min(times) < max(ends) - 3


def test_the_suggested_commands_work(played: tuple[Path, subprocess.CompletedProcess[str], float]) -> None:
    """The three lines to paste are real commands that find something."""
    _, result, _ = played
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip().startswith("otel-processor sql")]
    assert len(lines) == 3
    for line in lines:
        answer = CliRunner().invoke(cli, [*shlex.split(line)[1:], "--format", "csv"])
        assert answer.exit_code == 0, answer.stderr
        assert len(answer.stdout.splitlines()) > 1


def test_a_pipeline_that_fails_is_told(database: Path) -> None:
    """A run that is missing, one without steps, an unseen loop and a false alarm are all faults."""
    from otel_processor.demo.report import faults
    from otel_processor.demo.tasks import TASKS
    from otel_processor.store.database import Database

    by_name = {task.name: task for task in TASKS}
    with Database(database).write(timeout_seconds=5) as connection:
        connection.execute("""
            insert into run_rows (run_id, task, stop_reason, policy_hash, status)
            values ('a', 'find-invoice', 'completed', '', 'ok'), ('b', 'fix-tests', 'running', '', 'running')
        """)
        connection.execute("""
            insert into alerts (alert_id, run_id, trace_id, span_id, "at", pattern, severity, action, message)
            values ('x', 'b', 't', 's', now(), 'hard_loop', 'critical', 'stop', 'm')
        """)
    found = faults(database, {"a": by_name["find-invoice"], "b": by_name["fix-tests"], "c": by_name["fix-tests"]})
    assert found == [
        "1 of 3 runs are not in the database (c …)",
        "find-invoice (a) is stored without its steps",
        "find-invoice (a) loops, and there is no alert on it",
        "fix-tests (b) is stored without its steps",
        "fix-tests (b) has ended, and is stored as running",
        "fix-tests (b) is healthy, and there is an alert on it",
    ]


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pydantic-ai the pip command is told, and no database is made."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    db = tmp_path / "a.duckdb"
    result = CliRunner().invoke(cli, ["demo", "--headless", "--db", str(db)])
    assert result.exit_code == 2
    assert "pip install 'otel-processor[demo]'" in result.stderr
    assert not db.exists()
