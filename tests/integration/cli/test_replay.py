"""`otel-processor replay` of real databases."""

from __future__ import annotations

import importlib
import json
import re
from typing import TYPE_CHECKING

import duckdb

from otel_processor.cli import cli
from tests.integration.cli.conftest import held
from tests.integration.cli.test_import import request

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from click.testing import CliRunner


PATIENT = "hard_loop_repeats = 50\nno_progress_alert_steps = 50\nno_progress_stop_steps = 50\n"


def filled(runner: CliRunner, tmp_path: Path) -> Path:
    db, spans = tmp_path / "agents.duckdb", tmp_path / "spans.jsonl"
    spans.write_text("".join(json.dumps(request(number, 6)) + "\n" for number in range(1, 4)))
    assert runner.invoke(cli, ["import", "--db", str(db), str(spans)]).exit_code == 0
    return db


def reasons(db: Path) -> list[tuple[str, str | None, int]]:
    with duckdb.connect(str(db), read_only=True) as connection:
        return connection.execute("select stop_reason, flagged_reason, count(*) from runs group by all").fetchall()


def test_under_the_same_policy_it_says_that_nothing_changed(runner: CliRunner, tmp_path: Path) -> None:
    db = filled(runner, tmp_path)
    result = runner.invoke(cli, ["replay", "--db", str(db)])
    assert result.exit_code == 0, result.output
    made, alerts, changes = result.output.splitlines()
    assert re.fullmatch(r"made 3 runs and 15 calls of 18 spans anew by the policy [0-9a-f]{16}", made)
    assert alerts == "alerts: 6 before, 0 new, 0 open ones resolved"
    assert changes == "no run ended otherwise, none was flagged otherwise"


def test_under_another_policy_it_says_what_changed(runner: CliRunner, tmp_path: Path) -> None:
    db = filled(runner, tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(PATIENT)
    before = reasons(db)
    said = {}
    for options in (["--dry-run"], []):
        result = runner.invoke(cli, ["replay", "--db", str(db), "--policy", str(policy), *options])
        assert result.exit_code == 0, result.output
        said[bool(options)] = result.output.splitlines()[1:]
        if options:
            assert reasons(db) == before
    assert said[True] == said[False]
    assert said[False][1:] == [
        "runs that ended or were flagged otherwise:",
        "       3  completed, flagged loop_detected:repeated_tool_signature  ->  completed",
    ]
    assert reasons(db) == [("completed", None, 3)]


def test_the_policy_of_the_environment_is_the_one_when_none_is_given(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = filled(runner, tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(PATIENT)
    monkeypatch.setenv("OTEL_PROCESSOR_POLICY", str(policy))
    assert runner.invoke(cli, ["replay", "--db", str(db)]).exit_code == 0
    assert reasons(db) == [("completed", None, 3)]


def test_what_cannot_be_is_said_in_one_line(runner: CliRunner, tmp_path: Path, database: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("hard_lop_repeats = 3\n")
    for words, code, said in (
        (["--db", str(tmp_path / "none.duckdb")], 2, "there is no database at"),
        (["--db", str(database), "--policy", str(tmp_path / "none.toml")], 2, "does not exist"),
        (["--db", str(database), "--policy", str(wrong)], 2, "did you mean hard_loop_repeats?"),
    ):
        result = runner.invoke(cli, ["replay", *words])
        assert (result.exit_code, said in result.output) == (code, True), result.output
    assert not (tmp_path / "none.duckdb").exists()


def test_a_held_database_is_said(runner: CliRunner, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = importlib.import_module("otel_processor.cli.replay")
    monkeypatch.setattr(command, "READ_SECONDS", 0.1)
    with held(database) as pid:
        result = runner.invoke(cli, ["replay", "--db", str(database)])
    assert result.exit_code == 1
    assert str(pid) in result.output


def test_an_empty_database_is_no_trouble(runner: CliRunner, database: Path) -> None:
    result = runner.invoke(cli, ["replay", "--db", str(database)])
    assert (result.exit_code, "made 0 runs" in result.output) == (0, True)
