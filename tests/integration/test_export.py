"""Copies to give away: sealed, of what was chosen, and without a word of content where that is asked."""

from __future__ import annotations

import json
import shutil
import stat
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from otel_processor.errors import SealedError, StoreError
from otel_processor.model import SpanEvent
from otel_processor.recording.bounds import MAX_VALUE_CHARS
from otel_processor.recording.recorder import Recorder
from otel_processor.sharing.choice import Choice, microsecond_of
from otel_processor.sharing.exporting import Exported, Format, export
from otel_processor.store.database import Database
from otel_processor.store.scripts import creation_order
from tests.integration import processes
from tests.integration.records import SECOND, START, record, tool_record
from tests.integration.stored import rows, value
from tests.integration.test_run_totals import assert_true

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "zq0Secret"
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}


def secret(where: str) -> str:
    return f"the {SECRET} {where} 密码"


def spans_with_secrets() -> list[Any]:
    """Secrets in every place that holds what was said, asked, answered, or nobody knows what."""
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": secret("message")}]}])
    model = {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 10,
        "gen_ai.input.messages": messages, "gen_ai.output.messages": messages,
        "llm.input_messages.0.message.content": secret("oi"),
        "gen_ai.prompt.0.content": secret("tl"), "input.value": secret("in"), secret("key"): 1,
        "user.email": f"{SECRET}@x.org",
        "gen_ai.tool.name": secret("name that is a whole text ") * 8, "nested": {"a": [secret("deep")]},
    }  # fmt: skip
    spans: list[Any] = [
        record(
            model, trace="a" * 32, parent="r", status="ERROR",
            events=[
                SpanEvent("exception", START, {"exception.type": "E", "exception.message": secret("exception")}),
                SpanEvent(secret("event"), START, {"gen_ai.prompt": secret("prompt")}),
            ],
        )
    ]  # fmt: skip
    for n in range(6):
        question = {"q": secret("argument"), secret("argument name"): "x"}
        spans.append(tool_record("search", question, secret("result"), trace="a" * 32, parent="r"))
        failing = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fetch", "error.message": secret("error")}
        failing |= {"gen_ai.tool.call.arguments": json.dumps({"q": f"{secret('near')} {n}"})}
        spans.append(record(failing, trace="a" * 32, parent="r", status="ERROR"))
    long = {secret("long key"): secret("long") * MAX_VALUE_CHARS, "input.value": secret("x") * MAX_VALUE_CHARS}
    spans.append(tool_record("fetch", {"q": secret("cut") * 9_000}, secret("cut result") * 9_000, trace="a" * 32, parent="r"))
    spans.append(record(long, trace="a" * 32, parent="r"))
    spans.append(record(AGENT, trace="a" * 32, span="r"))
    hidden = {
        "status_message": secret("status"), "trace_state": f"x={SECRET}",
        "resource": {"service.name": "shop", "host.name": SECRET, "process.command_line": secret("argv")},
        "links": [{"trace_id": "c" * 32, "span_id": "d" * 16, "attributes": {"k": secret("link")}, "trace_state": SECRET}],
        "extra": {"flags": 1, "scope_attributes": {"k": secret("scope")}, "schema_url": f"https://{SECRET}"},
    }  # fmt: skip
    return [type(span)(**({name: getattr(span, name) for name in span.__slots__} | hidden)) for span in spans]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with two runs: one full of secrets that loops, one of another task later on."""
    db = tmp_path_factory.mktemp("made") / "agents.duckdb"
    recorder = Recorder(db)
    assert recorder.record(spans_with_secrets(), timeout_seconds=10)
    later = START + 86_400 * SECOND
    other = AGENT | {"gen_ai.agent.name": "scout"}
    assert recorder.record(
        [
            tool_record("read", {"p": 1}, "ok", trace="b" * 32, parent="s", at=later),
            record(other, trace="b" * 32, span="s", at=later),
            record(trace="e" * 32, name="GET /"),
        ],
        timeout_seconds=10,
    )
    recorder.close()
    with recorder.database.write(timeout_seconds=5) as connection:
        # Some alerts quote what was asked and said.
        quoted = json.dumps({"asked": [secret("near")], "said": secret("said")}, ensure_ascii=False)
        connection.execute("update alerts set evidence = json_merge_patch(evidence, $quoted)", {"quoted": quoted})
    return db


@pytest.fixture
def source(made: Path, db: Path) -> Path:
    shutil.copyfile(made, db)
    return db


def give(db: Path, target: Path, kind: Format = Format.DUCKDB, **options: Any) -> Exported:
    asked: dict[str, Any] = {"choice": Choice(), "without_content": False, "overwrite": False} | options
    return export(db, target, kind=kind, timeout_seconds=5, **asked)


def relations(connection: duckdb.DuckDBPyConnection) -> list[str]:
    asked = "select table_name from duckdb_tables() union all select view_name from duckdb_views() where not internal order by 1"
    return [name for (name,) in connection.execute(asked).fetchall()]


def all_text(connection: duckdb.DuckDBPyConnection, names: list[str]) -> str:
    """Every value of every row of these relations."""
    return "\n".join(
        str(row) for name in names for row in connection.execute(f'select columns(*)::VARCHAR from "{name}"').fetchall()
    )


def test_a_copy_holds_the_same_tables_and_views(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.duckdb"
    done = give(source, target)
    assert (done.runs, done.size_bytes) == (2, target.stat().st_size)
    for name in (*(set(creation_order("schema")) - {"meta", "writers", "deliveries"}), *creation_order("views")):
        assert rows(target, f"from {name} order by all") == rows(source, f"from {name} order by all"), name
    assert rows(target, "from writers") == []
    assert value(target, "select what from sealed_copy") == "everything"
    assert_true(target)


def test_a_copy_is_sealed(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.duckdb"
    give(source, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o444
    target.chmod(0o644)
    before = target.read_bytes()
    database = Database(target)
    for _ in range(2):
        with pytest.raises(SealedError, match=r"sealed copy.*write to another one with --db"), database.write(timeout_seconds=5):
            pass
    assert target.read_bytes() == before
    # What a recorder is given it does not lose: it waits, as with any database that cannot be written.
    assert Recorder(target).record([tool_record("t")], timeout_seconds=1)
    assert target.read_bytes() == before


@pytest.mark.parametrize("kind", Format)
def test_without_content_no_secret_is_anywhere(source: Path, tmp_path: Path, kind: Format) -> None:
    with duckdb.connect(str(source), read_only=True) as connection:
        held = all_text(connection, relations(connection))
    assert held.count(SECRET) > 100
    for where in ("argument", "argument name", "result", "error", "status", "link", "scope", "exception", "event", "key", "near"):
        assert f"the {SECRET} {where}" in held, where
    target = tmp_path / "copy"
    give(source, target, kind, without_content=True)
    if kind is Format.DUCKDB:
        files, connection = [target], duckdb.connect(str(target), read_only=True)
        names = relations(connection)
    else:
        files, connection = list(target.iterdir()), duckdb.connect()
        names = [str(file) for file in files if file.suffix == ".parquet"]
    text = all_text(connection, names)
    connection.close()
    assert len(text) > 10_000
    assert SECRET not in text
    assert not [file for file in files if SECRET.encode() in file.read_bytes()]


def test_without_content_what_is_counted_and_compared_stays(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.duckdb"
    give(source, target, without_content=True)
    kept = (
        "run_id, trace_id, span_id, step, kind, agent, is_error, error_class, signature, fingerprint, progress, repeats, "
        "flat_steps, effect, model, input_tokens, cost_usd, started_at"
    )
    for asked in (
        f"select {kept} from calls order by all",
        "from runs order by all",
        "from trace_runs order by all",
        "select alert_id, pattern, severity, evidence ->> 'span_ids', evidence ->> 'signature' from alerts order by all",
        "select attributes ->> '$.\"gen_ai.usage.input_tokens\"' from spans order by all",
        "select attributes ->> '$.\"gen_ai.agent.name\"' from spans order by all",
    ):
        assert rows(target, asked) == rows(source, asked)
    lengths = "select span_id, length(result) from call_rows where result is not null order by 1"
    told = "select span_id, (result::JSON ->> 'length')::BIGINT from call_rows where result is not null order by 1"
    assert rows(target, told) == rows(source, lengths)
    assert value(target, "select without_content from sealed_copy") is True
    for table in ("spans", "calls"):
        assert rows(target, f"select distinct content from {table}") == [("off",)]
        assert rows(source, f"select count(*) from {table} where content = 'off'") == [(0,)]
    assert_true(target)


def test_parquet_has_a_file_for_each_relation(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "Ordner mit 'Läufen'"
    done = give(source, target, Format.PARQUET)
    expected = {"spans", "calls", "runs", "alerts", "trace_runs", "policies", *creation_order("views")}
    assert {file.name for file in target.iterdir()} == {f"{name}.parquet" for name in expected} | {"export.json"}
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o444 for file in target.iterdir())
    said = json.loads((target / "export.json").read_text())
    assert (said["runs"], said["spans"], said["without_content"]) == (done.runs, done.spans, False)
    with duckdb.connect() as connection:
        for name in expected:
            place = str(target / f"{name}.parquet").replace("'", "''")
            found = connection.execute(f"select columns(*)::VARCHAR from '{place}' order by all").fetchall()
            assert found == rows(source, f"select columns(*)::VARCHAR from {name} order by all"), name
    give(source, target, Format.PARQUET, overwrite=True)


@pytest.mark.parametrize(
    "choice",
    [
        Choice(since_us=(START + 86_000 * SECOND) // 1_000),
        Choice(tasks=("scout",)),
        Choice(run_ids=("b" * 32,)),
        Choice(since_us=0, tasks=("scout", "nobody"), run_ids=("a" * 32, "b" * 32)),
    ],
)
def test_only_what_was_chosen_is_given(source: Path, tmp_path: Path, choice: Choice) -> None:
    target = tmp_path / "copy.duckdb"
    assert give(source, target, choice=choice).runs == 1
    with duckdb.connect(str(target), read_only=True) as connection:
        text = all_text(connection, [name for name in relations(connection) if name != "sealed_copy"])
    assert "b" * 32 in text
    assert "a" * 32 not in text
    assert "e" * 32 not in text
    assert rows(target, "from runs") == rows(source, f"from runs where run_id = '{'b' * 32}'")
    assert_true(target)


def test_who_chooses_nothing_is_told(source: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no runs of the task nobody"):
        give(source, tmp_path / "copy.duckdb", choice=Choice(tasks=("nobody",)))
    assert not [path for path in tmp_path.iterdir() if "copy" in path.name]


def test_nothing_but_an_export_is_overwritten(source: Path, tmp_path: Path) -> None:
    target, folder = tmp_path / "copy.duckdb", tmp_path / "folder"
    give(source, target)
    with pytest.raises(StoreError, match="exists already"):
        give(source, target)
    give(source, target, overwrite=True)
    folder.mkdir()
    (folder / "diary.txt").write_text("dear diary")
    other = tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as connection:
        connection.execute("create table t as select 1")
    for place, kind in ((other, Format.DUCKDB), (folder, Format.PARQUET), (source, Format.DUCKDB), (folder, Format.DUCKDB)):
        with pytest.raises(StoreError, match=r"no export|is a folder|the database itself"):
            give(source, place, kind, overwrite=True)
    with pytest.raises(StoreError, match="no folder"):
        give(source, target, Format.PARQUET, overwrite=True)
    assert (folder / "diary.txt").read_text() == "dear diary"


@pytest.mark.parametrize("what", ["missing", "other"])
def test_what_is_no_database_of_ours_is_not_given(tmp_path: Path, what: str) -> None:
    path = tmp_path / "it.duckdb"
    if what == "other":
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table t as select 1")
    with pytest.raises(StoreError, match=r"there is no database|did not make it"):
        give(path, tmp_path / "copy.duckdb")
    assert len(list(tmp_path.iterdir())) == (what == "other")


def test_a_full_disk_leaves_nothing_behind(source: Path, tmp_path: Path) -> None:
    code = """
import resource
from pathlib import Path
from otel_processor.errors import StoreUnavailableError
from otel_processor.sharing.choice import Choice
from otel_processor.sharing.exporting import Format, export
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
for kind in Format:
    try:
        export(
            sys.argv[1], Path(sys.argv[2]), kind=kind, choice=Choice(), without_content=False, overwrite=False, timeout_seconds=5
        )
    except StoreUnavailableError as error:
        print("refused", error)
"""
    out, _ = processes.run(code, source, tmp_path / "copy")
    assert out.count("refused") == len(out.splitlines()) == 2
    assert not [path for path in tmp_path.iterdir() if "copy" in path.name]


@pytest.mark.parametrize(
    ("text", "us"),
    [("1970-01-02", 86_400_000_000), ("1970-01-01T01:00:00+01:00", 0), ("1d", 9 * 86_400_000_000), ("1000d", 0)],
)
def test_a_moment_is_a_date_or_a_while_ago(text: str, us: int) -> None:
    assert microsecond_of(text, "--since", now_ns=10 * 86_400 * SECOND) == us


def told_without_content(source: Path, tmp_path: Path, pattern: str, message: str, evidence: dict[str, Any], tool: str) -> str:
    """What a copy without content has in the place of an alert's message."""
    with Database(source).write(timeout_seconds=5) as connection:
        connection.execute(
            "update alerts set pattern = $pattern, message = $message, evidence = $evidence, tool = $tool",
            {"pattern": pattern, "message": message, "evidence": json.dumps(evidence), "tool": tool},
        )
    target = tmp_path / "copy.duckdb"
    give(source, target, without_content=True)
    return str(value(target, "select any_value(message) from alerts"))


@pytest.mark.parametrize(
    ("pattern", "message", "evidence", "stays"),
    [
        ("hard_loop", "search was called 3 times with the same arguments", {"tool": "search", "repeats": 3}, True),
        ("no_progress", "9 steps in a row brought nothing new (tools called: a, b)", {"tools": ["a", "b"]}, True),
        ("semantic_loop", "search was asked the same in other words 4 times", {"tool": "search", "asked": [SECRET]}, True),
        ("hard_loop", f"{SECRET * 20} was called 3 times", {"tool": SECRET * 20}, False),
        ("cycle", f"the same 2 calls came 3 times ({SECRET * 20}, b)", {"tools": [SECRET * 20, "b"]}, False),
        ("hard_loop", f"search was asked {SECRET}", {"of_a_later_version": SECRET}, False),
        ("of_a_later_version", f"it said {SECRET}", {}, False),
        ("semantic_loop", f"it said again: {SECRET}", {"said_again": SECRET}, False),
    ],
)
def test_an_alert_can_be_read_where_it_is_in_our_words(
    source: Path, tmp_path: Path, pattern: str, message: str, evidence: dict[str, Any], stays: bool
) -> None:
    told = told_without_content(source, tmp_path, pattern, message, evidence, "search")
    if stays:
        assert told == message
    else:
        assert json.loads(told)["length"] == len(message)
        assert SECRET not in told


def test_an_alert_that_quotes_ends_before_the_quotation(source: Path, tmp_path: Path) -> None:
    ours = "3 of the last 5 turns only said again what had been said before"
    said = {"said_again": SECRET, "similarities": [1.0]}
    assert told_without_content(source, tmp_path, "semantic_loop", f"{ours}: {SECRET}", said, "search") == ours
