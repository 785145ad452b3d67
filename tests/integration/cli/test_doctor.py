"""`otel-processor doctor` on what can be found in the field."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from otel_processor.cli import cli
from otel_processor.store import spool, status
from otel_processor.store.database import Database
from otel_processor.store.totals import recount_all
from tests.integration.cli.conftest import held

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import CliRunner

WRITER = """
insert into writers
    (writer_id, host, pid, version, started_at, last_write_at, written, duplicates, cut, spooled, dropped, lock_waits)
values ('w1', 'box', 42, '0', now(), now(), 1234, 1, 2, 3, {dropped}, 5)
"""
SPAN = """
insert into spans (trace_id, span_id, name, kind, start_unix_nano, end_unix_nano, status, received_at)
select 't', i::VARCHAR, 'GET /', 'CLIENT', 0, 1, 'UNSET', now() from range({count}) s(i)
"""
CALL = """
insert into call_rows (trace_id, span_id, step, kind, tool, is_error, flat_steps, end_unix_nano)
values ('t', '0', 1, 'tool', 'search', false, 0, 1)
"""


@pytest.fixture(autouse=True)
def _own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status files lie in the temp directory; each test gets its own."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def fill(path: Path, *statements: str) -> None:
    with Database(path).write(timeout_seconds=5) as connection:
        for statement in statements:
            connection.execute(statement)
        recount_all(connection)


def examine(runner: CliRunner, db: Path) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    result = runner.invoke(cli, ["doctor", "--db", str(db), "--json"])
    report = json.loads(result.stdout)
    found: dict[str, list[dict[str, Any]]] = {}
    for check in report["checks"]:
        found.setdefault(check["name"], []).append(check)
    assert report["ok"] is (result.exit_code == 0)
    return result.exit_code, found


def test_a_healthy_database(runner: CliRunner, database: Path) -> None:
    """Everything is in order, and the numbers are told."""
    fill(database, SPAN.format(count=100), CALL, WRITER.format(dropped=0))
    code, found = examine(runner, database)
    assert code == 0, found
    assert found["schema"][0]["state"] == "ok"
    assert "100 spans, 1 tool calls" in found["content"][0]["detail"]
    assert "process 42 on box: 1,234 spans written" in found["writer"][0]["detail"]
    assert found["last write"][0]["detail"].startswith(("just now; newest span received 20", "2 s", "3 s"))
    assert found["duckdb"][0]["detail"] == duckdb.__version__
    assert "_on_ending" in found["opentelemetry-sdk"][0]["detail"]


def test_text_is_aligned_and_plain(runner: CliRunner, database: Path) -> None:
    """A line per check in three columns, no colours, a count at the end."""
    fill(database, WRITER.format(dropped=0))
    result = runner.invoke(cli, ["doctor", "--db", str(database)])
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    lines = result.stdout.splitlines()
    assert lines[0].startswith("ok       otel-processor ")
    assert lines[-1] == "no problems, no warnings."


def test_a_new_database_has_no_writer_yet(runner: CliRunner, database: Path) -> None:
    """Nobody wrote: worth knowing, not wrong."""
    code, found = examine(runner, database)
    assert code == 0
    assert found["last write"][0]["state"] == "warning"


def test_lost_spans_are_a_problem(runner: CliRunner, database: Path) -> None:
    """A writer that dropped spans is told of, with the remedy."""
    fill(database, WRITER.format(dropped=7))
    code, found = examine(runner, database)
    assert code == 1
    assert "7 dropped" in found["writer"][0]["detail"]
    assert found["writer"][0]["remedy"]


@pytest.mark.parametrize(("spans", "state"), [(100, "problem"), (3, "warning")])
def test_spans_without_a_tool_call(runner: CliRunner, database: Path, spans: int, state: str) -> None:
    """A database full of spans in which no tool call was recognised is not wired."""
    fill(database, SPAN.format(count=spans))
    code, found = examine(runner, database)
    assert found["content"][0]["state"] == state
    assert code == (state == "problem")


def test_a_missing_database(runner: CliRunner, tmp_path: Path) -> None:
    """Without a file the remedy says how to get one, and none is created."""
    path = tmp_path / "none.duckdb"
    code, found = examine(runner, path)
    assert code == 1
    assert str(path) in found["database"][0]["detail"]
    assert "--db" in found["database"][0]["remedy"]
    assert not path.exists()


def test_a_missing_folder(runner: CliRunner, tmp_path: Path) -> None:
    """A folder that does not exist is named."""
    code, found = examine(runner, tmp_path / "nowhere" / "a.duckdb")
    assert code == 1
    assert "does not exist" in found["folder"][0]["detail"]


def test_a_held_database(runner: CliRunner, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds the file is named."""
    monkeypatch.setattr("otel_processor.cli.database_checks.LOCK_SECONDS", 0.3)
    with held(database) as pid:
        code, found = examine(runner, database)
    assert code == 1
    assert f"process {pid}" in found["database"][0]["detail"]


def test_a_foreign_file(runner: CliRunner, tmp_path: Path) -> None:
    """A file that is no database is said to be none."""
    path = tmp_path / "notes.txt"
    path.write_text("words " * 1000)
    code, found = examine(runner, path)
    assert code == 1
    assert "not a DuckDB database" in found["database"][0]["detail"]


def test_somebody_elses_database(runner: CliRunner, tmp_path: Path) -> None:
    """A DuckDB file without our tables is not taken for ours."""
    path = tmp_path / "other.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("create table meta (x int)")
    connection.close()
    code, found = examine(runner, path)
    assert code == 1
    details = [check["detail"] for checks in found.values() for check in checks if check["state"] == "problem"]
    assert len(details) == 1


def test_a_newer_schema(runner: CliRunner, database: Path) -> None:
    """A database of a later major version is named with the remedy."""
    fill(database, "update meta set schema_major = 9")
    code, found = examine(runner, database)
    assert code == 1
    assert "version 9." in found["schema"][0]["detail"]
    assert "install" in found["schema"][0]["remedy"]


def test_batches_that_wait(runner: CliRunner, database: Path) -> None:
    """Spooled batches are counted."""
    spool.put_aside(spool.save(database, {}))
    spool.save(database, {})
    code, found = examine(runner, database)
    assert code == 0
    assert found["spool"][0]["detail"].startswith("1 batch waits")
    assert found["spool"][1]["detail"].startswith("1 of its files cannot be read")


def test_a_writer_that_cannot_get_in(runner: CliRunner, database: Path) -> None:
    """What a shut-out writer left behind is told."""
    status.write_status(
        database,
        "w9",
        {"host": "box", "since": "10:00", "reason": "locked", "spooled": 5, "dropped": 2, "last_error": "held by x"},
    )
    code, found = examine(runner, database)
    assert code == 1
    (check,) = found["shut out"]
    assert "held by x" in check["detail"]
    assert "5 spans spooled, 2 dropped" in check["detail"]


def test_the_environment_is_looked_at(runner: CliRunner, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that matter are shown; what may hold a secret is not; a contradiction is told."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "duckdb")
    monkeypatch.setenv("OTEL_PROCESSOR_WEBHOOK_URL", "https://hooks.example/zq0Path")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    result = runner.invoke(cli, ["doctor", "--db", str(database)], env={"OTEL_PROCESSOR_DB": "elsewhere.duckdb"})
    assert result.exit_code == 1
    assert "OTEL_TRACES_EXPORTER=duckdb" in result.stdout
    assert "OTEL_PROCESSOR_WEBHOOK_URL is set" in result.stdout
    assert "zq0Path" not in result.stdout
    assert "OTEL_SDK_DISABLED=true" in result.stdout
    assert "OTEL_PROCESSOR_DB names elsewhere.duckdb" in result.stdout


MODEL_CALLS = """
insert into call_rows
    (trace_id, span_id, step, kind, model, is_error, flat_steps, end_unix_nano, input_tokens, output_tokens, cost_usd,
     cost_source)
values
    ('t', '1', 1, 'model', 'gpt-4o', false, 0, 1, 1000, 100, 0.25, 'price_list'),
    ('t', '2', 1, 'model', 'house-1', false, 0, 1, 1000, 100, null, null),
    ('t', '3', 1, 'model', 'gpt-4o', false, 0, 1, null, null, null, null)
"""
RUN = """
insert into run_rows (run_id, stop_reason, policy_hash, status, root_input_tokens)
values ('t', 'completed', '0', 'ok', {root})
"""


def test_what_has_no_price_is_told_with_what_to_do(runner: CliRunner, database: Path) -> None:
    fill(database, MODEL_CALLS, RUN.format(root="null"))
    code, found = examine(runner, database)
    assert code == 0
    (cost,) = found["cost"]
    assert cost["state"] == "warning"
    assert "1 of 2 model calls with usage have a cost, $0.2500 together" in cost["detail"]
    assert "no price for 'house-1' (1)" in cost["detail"]
    assert "Policy(prices=" in cost["remedy"]
    assert found["usage"][0]["detail"].startswith("1 model calls tell no tokens")
    assert found["reconciliation"][0]["detail"] == "runs: 1 have calls without a price"


def test_without_the_price_list_the_remedy_is_to_install_it(
    runner: CliRunner, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database, MODEL_CALLS)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    _, found = examine(runner, database)
    assert "pip install 'otel-processor[cost]'" in found["cost"][0]["remedy"]


def test_runs_that_do_not_add_up_are_told(runner: CliRunner, database: Path) -> None:
    fill(database, MODEL_CALLS, RUN.format(root=1_999))
    _, found = examine(runner, database)
    assert found["reconciliation"][0]["state"] == "warning"
    assert found["reconciliation"][0]["detail"] == "runs: 1 do not add up to what their root says"
    assert "cost_reconciliation" in found["reconciliation"][0]["remedy"]


def test_a_database_without_model_calls_says_nothing_of_cost(runner: CliRunner, database: Path) -> None:
    _, found = examine(runner, database)
    assert "cost" not in found


def test_calls_without_content_are_told(runner: CliRunner, database: Path) -> None:
    """A loop among calls of which nothing is recorded cannot be seen; that is no fault of the agent's."""
    fill(database, SPAN.format(count=1), CALL)
    _, found = examine(runner, database)
    assert found["recording"][0]["state"] == "warning"
    assert "CAPTURE_MESSAGE_CONTENT" in found["recording"][0]["remedy"]
    fill(database, "update call_rows set signature = 's', fingerprint = 'f'")
    _, found = examine(runner, database)
    assert "recording" not in found


@pytest.mark.parametrize(
    ("env", "name", "state", "says"),
    [
        ({}, "retention", "ok", "no run is removed by itself"),
        ({"KEEP_DAYS": "30", "MAX_SIZE": "5GB"}, "retention", "ok", "older than 30 days are removed, and the oldest"),
        ({"MAX_SIZE": "5"}, "retention", "problem", "has no unit"),
        ({}, "privacy", "ok", "content is stored; secrets are taken out"),
        ({"CONTENT": "off"}, "privacy", "ok", "content is off"),
        ({"REDACT": "off"}, "privacy", "warning", "redaction is off"),
        ({"REDACT": "aws_key"}, "privacy", "problem", "OTEL_PROCESSOR_REDACT names no kind"),
    ],
)
def test_what_is_kept_is_told(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], name: str, state: str, says: str
) -> None:
    for variable, text in env.items():
        monkeypatch.setenv(f"OTEL_PROCESSOR_{variable}", text)
    _, found = examine(runner, tmp_path / "none.duckdb")
    (check,) = found[name]
    assert check["state"] == state
    assert says in check["detail"]


def test_limits_are_told_with_their_values(runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_PROCESSOR_MAX_SIZE", "5GB")
    _, found = examine(runner, tmp_path / "none.duckdb")
    assert found["environment"][0]["detail"] == "OTEL_PROCESSOR_MAX_SIZE=5GB"
    assert "grpcio " in found["extra serve"][0]["detail"]
