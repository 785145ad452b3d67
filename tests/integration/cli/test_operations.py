"""`prune`, `compact`, `backup`, `export` as commands, and what `doctor` says of them."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING

import duckdb
import pytest

from otel_processor.cli import cli
from otel_processor.cli.size_checks import look_at_size
from otel_processor.recording.recorder import Recorder
from otel_processor.store.compacting import leftover_of
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only
from tests.integration.cli.conftest import held
from tests.integration.records import SECOND, record, tool_record
from tests.integration.stored import value

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import CliRunner

FILLING = """
    insert into spans by name
    select md5((i // 20)::VARCHAR) as trace_id, i::VARCHAR as span_id, 'x' as name, 'CLIENT' as kind, 0 as start_unix_nano,
           1 as end_unix_nano, 'UNSET' as status, now() as received_at, md5(random()::VARCHAR) as trace_state
    from range(125000) as r(i)
"""


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OTEL_PROCESSOR_KEEP_DAYS", "OTEL_PROCESSOR_MAX_SIZE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))


@pytest.fixture
def filled(database: Path) -> Path:
    """A run that ended long ago."""
    recorder = Recorder(database)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}
    spans = [
        tool_record("search", {"q": 1}, "none", parent="r", at=SECOND),
        record(agent, span="r", at=SECOND, end=2 * SECOND),
    ]
    assert recorder.record(spans, timeout_seconds=5)
    return database


def test_prune_says_what_it_removed_and_compact_shrinks_the_file(runner: CliRunner, filled: Path) -> None:
    with Database(filled).write(timeout_seconds=5) as connection:
        connection.execute(FILLING)
    told = runner.invoke(cli, ["prune", "--db", str(filled), "--older-than", "30d", "--dry-run"])
    assert told.exit_code == 0
    assert told.stdout == "would remove 1 run and 6,250 traces without a run: 125,002 spans, 1 call, 0 alerts, 0 messages\n"
    done = runner.invoke(cli, ["prune", "--db", str(filled), "--older-than", "30d"])
    first, second = done.stdout.splitlines()
    assert first == told.stdout.strip().replace("would remove", "removed")
    assert second.endswith(f"`otel-processor compact --db '{filled}'` makes it smaller")
    compacted = runner.invoke(cli, ["compact", "--db", str(filled)])
    assert compacted.exit_code == 0
    assert " had " in compacted.stdout
    assert "gets no smaller" in runner.invoke(cli, ["compact", "--db", str(filled)]).stdout


def test_prune_goes_by_the_environment_where_nothing_is_said(runner: CliRunner, filled: Path) -> None:
    done = runner.invoke(cli, ["prune", "--db", str(filled)], env={"OTEL_PROCESSOR_KEEP_DAYS": "30"})
    assert done.stdout.startswith("removed 1 run: ")
    assert value(filled, "select count(*) from spans") == 0


@pytest.mark.parametrize(
    ("arguments", "env", "says"),
    [
        ([], {}, "--older-than 30d or --max-size 5GB"),
        (["--older-than", "soon"], {}, "--older-than is 'soon'"),
        (["--max-size", "small"], {}, "--max-size is 'small'"),
        (["--max-size", "5"], {}, "say 5GB or 5MB"),
        ([], {"OTEL_PROCESSOR_MAX_SIZE": "small"}, "OTEL_PROCESSOR_MAX_SIZE is 'small'"),
        ([], {"OTEL_PROCESSOR_MAX_SIZE": "5"}, "say 5GB or 5MB"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(
    runner: CliRunner, database: Path, arguments: list[str], env: dict[str, str], says: str
) -> None:
    done = runner.invoke(cli, ["prune", "--db", str(database), *arguments], env=env)
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_size_that_cannot_be_had_is_code_1(runner: CliRunner, database: Path) -> None:
    assert Recorder(database).record([tool_record("search", {"q": 1}, "none")], timeout_seconds=5)
    done = runner.invoke(cli, ["prune", "--db", str(database), "--max-size", "1kB"])
    assert done.exit_code == 1
    assert done.stderr == "that is more than 1kB: what is left still goes on\n"
    assert value(database, "select count(*) from spans") == 1


@pytest.mark.parametrize(
    "command",
    [["prune", "--older-than", "1d"], ["compact"], ["backup", "T"], ["export", "T"], ["replay"]],
)
@pytest.mark.parametrize("what", ["missing", "other", "text"])
def test_what_is_no_database_of_ours_is_told_in_one_line(
    runner: CliRunner, tmp_path: Path, command: list[str], what: str
) -> None:
    path, target = tmp_path / "Ihre Daten.duckdb", tmp_path / "target"
    if what == "other":
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table t as select 1")
    elif what == "text":
        path.write_text("dear diary " * 2_000)
    before = path.read_bytes() if path.exists() else None
    done = runner.invoke(cli, [str(target) if word == "T" else word for word in command] + ["--db", str(path)])
    # A path that leads nowhere is wrong usage; with a file that is none of ours something is wrong with the data.
    assert done.exit_code == (2 if what == "missing" else 1)
    assert len(done.stderr.splitlines()) == 1
    assert str(path) in done.stderr
    assert (path.read_bytes() if path.exists() else None) == before
    assert not target.exists()


def test_for_sql_too_a_path_that_leads_nowhere_is_wrong_usage(runner: CliRunner, tmp_path: Path) -> None:
    done = runner.invoke(cli, ["sql", "select 1", "--db", str(tmp_path / "none.duckdb")])
    assert done.exit_code == 2
    assert "there is no database at" in done.stderr


def test_who_holds_the_file_is_named(runner: CliRunner, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command_name, name in (("prune", "WRITE"), ("compact", "HOLD"), ("backup", "READ"), ("export", "READ")):
        module = importlib.import_module(f"otel_processor.cli.{command_name}")
        monkeypatch.setattr(module, f"{name}_SECONDS", 0.1)
    target = str(filled.parent / "target")
    with held(filled) as pid:
        for command in (["prune", "--older-than", "1d"], ["compact"], ["backup", target], ["export", target]):
            done = runner.invoke(cli, [*command, "--db", str(filled)])
            assert done.exit_code == 1
            assert str(pid) in done.stderr


def test_backup_and_export_say_what_they_made(runner: CliRunner, filled: Path, tmp_path: Path) -> None:
    target, shared, folder = tmp_path / "a b.duckdb", tmp_path / "s.duckdb", tmp_path / "p"
    assert ", 2 spans" in runner.invoke(cli, ["backup", "--db", str(filled), str(target)]).stdout
    refused = runner.invoke(cli, ["backup", "--db", str(filled), str(target)])
    assert refused.exit_code == 1
    assert "--force" in refused.stderr
    done = runner.invoke(cli, ["export", "--db", str(filled), str(shared), "--no-content", "--since", "1970-01-01"])
    assert done.stdout.startswith(f"{shared}: 1 run, 1 call, 2 spans, ")
    assert done.stdout.endswith(", without content\n")
    done = runner.invoke(cli, ["export", "--db", str(filled), str(folder), "--format", "parquet", "--task", "clerk"])
    assert done.exit_code == 0
    assert json.loads((folder / "export.json").read_text())["what"] == "runs of the task clerk"
    assert runner.invoke(cli, ["export", "--db", str(filled), str(folder), "--since", "soon"]).exit_code == 2


def test_a_sealed_copy_is_read_by_doctor_and_not_written_by_prune(runner: CliRunner, filled: Path, tmp_path: Path) -> None:
    shared = tmp_path / "s.duckdb"
    runner.invoke(cli, ["export", "--db", str(filled), str(shared)])
    report = json.loads(runner.invoke(cli, ["doctor", "--db", str(shared), "--json"]).stdout)
    found = {check["name"]: check for check in report["checks"]}
    assert found["folder"] == {
        "name": "folder", "state": "ok", "detail": f"{shared} is a sealed copy, for reading only", "remedy": "",
    }  # fmt: skip
    assert found["schema"]["state"] == "ok"
    assert found["sealed copy"]["detail"].startswith("made 20")
    assert "everything; 2 spans, 1 tool calls, " in found["sealed copy"]["detail"]
    assert "last write" not in found
    assert not [check for check in report["checks"] if check["state"] != "ok"]
    refused = runner.invoke(cli, ["prune", "--db", str(shared), "--older-than", "1d"])
    assert refused.exit_code == 1
    assert "sealed copy" in refused.stderr


def test_doctor_says_how_a_file_becomes_smaller(runner: CliRunner, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes() -> dict[str, tuple[str, str]]:
        with open_read_only(filled) as connection:
            return {check.name: (str(check.state), check.remedy) for check in look_at_size(filled, connection)}

    assert sizes() == {"size": ("ok", "")}
    monkeypatch.setattr("otel_processor.cli.size_checks.LARGE_BYTES", 1_000)
    assert "prune" in sizes()["size"][1]
    monkeypatch.setenv("OTEL_PROCESSOR_KEEP_DAYS", "30")
    assert sizes()["size"][0] == "ok"
    with Database(filled).write(timeout_seconds=5) as connection:
        connection.execute(FILLING)
    with Database(filled).write(timeout_seconds=5) as connection:
        connection.execute("delete from spans where end_unix_nano = 1")
    monkeypatch.setattr("otel_processor.cli.size_checks.WORTH_COMPACTING_BYTES", 1_000_000)
    assert f"compact --db '{filled}'" in sizes()["size"][1]
    leftover_of(filled).write_text("half")
    assert "compact" in sizes()["compaction"][1]
    monkeypatch.setenv("OTEL_PROCESSOR_KEEP_DAYS", "ever")
    assert sizes()["size"][0] == "warning"
