"""`otel-processor import` of real OTLP/JSON files."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import duckdb

from otel_processor.cli import cli
from tests.integration.cli.conftest import held
from tests.made_logs import codex

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from click.testing import CliRunner, Result


def request(trace: int, spans: int, **broken: Any) -> dict[str, Any]:
    """One export request: a run of equal searches below an agent."""
    trace_id = f"{trace:032x}"
    root = span(trace_id, 1, None, 0, spans + 1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder"})
    searches = [
        span(
            trace_id,
            number,
            1,
            number - 1,
            number,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search",
                "gen_ai.tool.call.arguments": '{"query": "x"}',
                "gen_ai.tool.call.result": "nothing",
            },
        )
        for number in range(2, spans + 1)
    ]
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "test"}, "spans": [*searches, root | broken]}]}]}


def span(trace_id: str, number: int, parent: int | None, start: int, end: int, attributes: dict[str, str]) -> dict[str, Any]:
    return {
        "traceId": trace_id,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": attributes["gen_ai.operation.name"],
        "kind": 1,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start * 1_000_000_000),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + end * 1_000_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def take(runner: CliRunner, db: Path, *files: Path | str, **options: Any) -> Result:
    return runner.invoke(cli, ["import", "--db", str(db), *map(str, files)], **options)


def test_files_lines_and_gzip(runner: CliRunner, tmp_path: Path) -> None:
    """A request a file, a request a line, and either gzipped; a loop among them is found."""
    whole, lines, zipped = tmp_path / "a.json", tmp_path / "b.jsonl", tmp_path / "c.json.gz"
    whole.write_text(json.dumps(request(1, 8), indent=2))
    lines.write_text("".join(json.dumps(request(number, 3)) + "\n" for number in (2, 3)))
    zipped.write_bytes(gzip.compress(json.dumps(request(4, 2)).encode()))
    db = tmp_path / "agents.duckdb"
    result = take(runner, db, whole, lines, zipped)
    assert result.exit_code == 0, result.output
    first, second = result.stdout.splitlines()
    assert first == "16 spans in 3 of 3 files: 16 new, 0 already there"
    assert second.startswith(f"{db} holds 12 calls, 4 runs, ")
    connection = duckdb.connect(str(db), read_only=True)
    assert connection.execute("select count(*) from alerts where pattern = 'hard_loop'").fetchall() == [(1,)]
    connection.close()


def test_importing_twice_does_no_harm(runner: CliRunner, tmp_path: Path) -> None:
    """Spans that are there are counted, and stay once."""
    path, db = tmp_path / "a.json", tmp_path / "agents.duckdb"
    path.write_text(json.dumps(request(1, 5)))
    take(runner, db, path)
    result = take(runner, db, path)
    assert result.exit_code == 0
    assert "5 spans in 1 of 1 files: 0 new, 5 already there" in result.stdout


def test_a_bad_file_among_good_ones(runner: CliRunner, tmp_path: Path) -> None:
    """The good ones are imported, the bad one is named."""
    good, bad, db = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "agents.duckdb"
    good.write_text(json.dumps(request(1, 5)))
    bad.write_text("this is no telemetry")
    result = take(runner, db, bad, good)
    assert result.exit_code == 1
    assert str(bad) in result.stderr
    assert "5 spans in 1 of 2 files: 5 new" in result.stdout
    assert "Traceback" not in result.output


def test_malformed_spans_are_counted(runner: CliRunner, tmp_path: Path) -> None:
    """One span without an id does not stop the others."""
    path, db = tmp_path / "a.json", tmp_path / "agents.duckdb"
    path.write_text(json.dumps(request(1, 5, spanId="")))
    result = take(runner, db, path)
    assert result.exit_code == 1
    assert "4 spans in 1 of 1 files: 4 new, 0 already there, 1 malformed and skipped" in result.stdout


def test_standard_input(runner: CliRunner, tmp_path: Path) -> None:
    """`-` reads a pipe, gzipped or not."""
    db = tmp_path / "agents.duckdb"
    assert "3 new" in take(runner, db, "-", input=json.dumps(request(1, 3)).encode()).stdout
    assert "2 new" in take(runner, db, "-", input=gzip.compress(json.dumps(request(2, 2)).encode())).stdout
    refused = take(runner, db, "-", input=b"no telemetry")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: standard input: no OTLP trace data")


def test_a_missing_file_is_wrong_usage(runner: CliRunner, tmp_path: Path) -> None:
    """Nothing is imported when a name is wrong."""
    db = tmp_path / "agents.duckdb"
    assert take(runner, db, tmp_path / "none.json").exit_code == 2
    assert not db.exists()


def test_many_requests_become_few_batches(runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are grouped, and none is left over."""
    monkeypatch.setattr("otel_processor.cli.importing.SPANS_PER_BATCH", 10)
    path, db = tmp_path / "a.jsonl", tmp_path / "agents.duckdb"
    path.write_text("".join(json.dumps(request(number, 3)) + "\n" for number in range(1, 26)))
    assert "75 spans in 1 of 1 files: 75 new" in take(runner, db, path).stdout


def test_a_held_database_is_said_at_once(
    runner: CliRunner, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits for an import learns who holds the file; nothing is spooled behind their back."""
    monkeypatch.setattr("otel_processor.cli.importing.OPEN_SECONDS", 0.3)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(request(1, 3)))
    with held(database) as pid:
        result = take(runner, database, path)
    assert result.exit_code == 1
    assert f"process {pid}" in result.stderr
    assert not database.with_name(database.name + ".spool").exists()


def test_a_foreign_file_is_left_alone(runner: CliRunner, tmp_path: Path) -> None:
    """A path that is no database is refused and stays as it is."""
    db, path = tmp_path / "notes.txt", tmp_path / "a.json"
    db.write_text("words " * 1000)
    path.write_text(json.dumps(request(1, 3)))
    result = take(runner, db, path)
    assert result.exit_code == 1
    assert db.read_text() == "words " * 1000


def test_a_run_that_old_files_leave_open_is_abandoned_and_opened_again_by_what_comes(
    runner: CliRunner, tmp_path: Path, database: Path
) -> None:
    whole = request(1, 4)
    spans = whole["resourceSpans"][0]["scopeSpans"][0]["spans"]
    root = spans.pop()
    calls, rest = tmp_path / "calls.json", tmp_path / "rest.json"
    calls.write_text(json.dumps(whole))
    assert take(runner, database, calls).exit_code == 0
    with duckdb.connect(str(database), read_only=True) as connection:
        assert connection.execute("select status, stop_reason, ended_at = last_seen_at from runs").fetchall() == [
            ("abandoned", "abandoned", True)
        ]
        assert connection.execute("select count(*) from alerts where resolved_at is null").fetchall() == [(0,)]
    spans[:] = [root]
    rest.write_text(json.dumps(whole))
    assert take(runner, database, rest).exit_code == 0
    with duckdb.connect(str(database), read_only=True) as connection:
        assert connection.execute("select status, stop_reason from runs").fetchall() == [("ok", "completed")]


def test_content_and_secrets_are_left_out_where_asked(runner: CliRunner, tmp_path: Path) -> None:
    secret = "ghp_" + "q7Zt0Kx3" * 5
    file = tmp_path / "spans.json"
    file.write_text(json.dumps(request(1, 3)).replace("nothing", f"nothing for {secret}"))
    patterns = tmp_path / "patterns.toml"
    patterns.write_text("[patterns]\nno = 'nothing'\n")
    for name, options, environment, expected in (
        ("plain", [], {"OTEL_PROCESSOR_REDACT": "off"}, f"nothing for {secret}"),
        ("redacted", [], {}, "nothing for [redacted:github_token:"),
        ("own", [], {"OTEL_PROCESSOR_REDACT_PATTERNS": str(patterns)}, "[redacted:no:"),
        ("off", ["--no-content"], {}, "[withheld:"),
        ("variable", [], {"OTEL_PROCESSOR_CONTENT": "off"}, "[withheld:"),
        ("kept", ["--content"], {"OTEL_PROCESSOR_CONTENT": "off"}, "nothing for [redacted:"),
    ):
        db = tmp_path / f"{name}.duckdb"
        result = runner.invoke(cli, ["import", "--db", str(db), *options, str(file)], env=environment)
        assert result.exit_code == 0, result.output
        with duckdb.connect(str(db), read_only=True) as connection:
            rows = connection.execute("select distinct result from calls where kind = 'tool'").fetchall()
        assert [row[0].startswith(expected) for row in rows] == [True], (name, rows)


def test_a_bad_setting_of_privacy_is_refused_before_a_file_is_made(runner: CliRunner, tmp_path: Path) -> None:
    file = tmp_path / "spans.json"
    file.write_text(json.dumps(request(1, 3)))
    db = tmp_path / "agents.duckdb"
    result = runner.invoke(cli, ["import", "--db", str(db), str(file)], env={"OTEL_PROCESSOR_REDACT": "nonsense"})
    assert result.exit_code == 2
    assert "no kind of secret" in result.output
    assert not db.exists()


def test_logs_of_coding_agents_are_imported_and_told_apart_from_others(runner: CliRunner, tmp_path: Path) -> None:
    """As the Collector's file exporter writes them, in a file of their own or among requests of spans."""
    session = codex(traced=False)
    other = session.logs_request([{"timeUnixNano": "1", "body": {"stringValue": "GET /"}}])
    file = tmp_path / "logs.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in (session.logs_request(), other, request(1, 3))))
    db = tmp_path / "agents.duckdb"
    result = runner.invoke(cli, ["import", str(file), "--db", str(db)])
    assert result.exit_code == 0, result.output
    kept = len(session.records) - 5  # What a stream is made of, five times, says nothing.
    assert f"{kept:,} of them log records of agents, 6 other log records left out" in result.output
    assert "2 runs" in result.output
    with duckdb.connect(str(db), read_only=True) as connection:
        assert connection.execute("select tool_calls, model_calls from runs where task = 'codex'").fetchall() == [(4, 5)]


def test_without_files_nothing_is_made_where_nothing_is(runner: CliRunner, tmp_path: Path) -> None:
    """A database that is empty would hide that the path was wrong."""
    db = tmp_path / "agents.duckdb"
    result = take(runner, db)
    assert result.exit_code == 2
    assert "give the files to import" in result.stderr
    assert not list(tmp_path.iterdir())
