"""The file: what is in it, who may open it, and what a failed transaction leaves."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path

import duckdb
import pytest

import otel_processor.recording
from otel_processor import StoreBusyError, StoreError, connect
from otel_processor.errors import StoreFullError, StoreMemoryError, StoreUnavailableError
from otel_processor.policy import Policy
from otel_processor.recording.preparing import prepare
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.spooling import spooled_columns
from otel_processor.store import scripts, spool
from otel_processor.store.columns import ALERTS, CALLS, POLICIES, RUNS, SPANS, TRACE_RUNS, WRITERS
from otel_processor.store.creating import SCHEMA_MINOR
from otel_processor.store.database import STORAGE_VERSION, Database
from otel_processor.store.opening import retry_while_busy, translate
from tests.integration import processes
from tests.integration.records import record, tool_record
from tests.integration.stored import rows, value

RELATIONS = {
    "spans": """trace_id span_id parent_span_id name kind start_time end_time start_unix_nano end_unix_nano status status_message
        service scope attributes events resource links received_at""",
    "calls": """run_id trace_id span_id step kind agent tool arguments result is_error error_class signature fingerprint progress
        repeats flat_steps effect model provider input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens
        cost_usd cost_source finish_reason started_at ended_at dialect""",
    "runs": """run_id task task_type agent service started_at ended_at steps tool_calls flat_steps longest_flat_streak
        repeated_signature_rate tokens cost_usd unpriced_calls calls_without_usage wasted_tokens wasted_cost_usd stop_reason
        flagged_reason policy_hash status models""",
    "policies": "policy_hash first_used_at fields",
    "trace_runs": "trace_id run_id decided_by",
    "alerts": """alert_id run_id trace_id span_id at pattern severity action stop_reason message evidence resolved_at""",
    "steps_per_task": "task runs avg_steps median_steps p95_steps max_steps",
    "repeated_tool_signature_rate": "task signed_tool_calls repeated_tool_calls repeated_tool_signature_rate",
    "no_progress_steps": "run_id task step flat_streak tools started_at ended_at",
    "stop_reason_distribution": "stop_reason flagged_reason runs share",
    "tokens_per_task": """task runs runs_without_usage input_tokens output_tokens tokens median_tokens_per_run max_tokens_per_run
        wasted_tokens cost_usd wasted_cost_usd unpriced_calls calls_without_usage""",
    "cost_reconciliation": """run_id task model_calls input_tokens output_tokens cost_usd root_input_tokens root_output_tokens
        root_cost_usd input_difference output_difference cost_difference unpriced_calls calls_without_usage verdict""",
    "flat_streaks": "run_id task agent streak last_step ended_at still_open",
}
"""What users' SQL relies on: these columns stay."""

TYPES = {
    ("spans", "start_time"): "TIMESTAMP WITH TIME ZONE",
    ("spans", "start_unix_nano"): "BIGINT",
    ("spans", "attributes"): "JSON",
    ("spans", "events"): "JSON",
    ("spans", "resource"): "JSON",
    ("spans", "links"): "JSON",
    ("spans", "received_at"): "TIMESTAMP WITH TIME ZONE",
    ("calls", "input_tokens"): "BIGINT",
    ("calls", "cost_usd"): "DOUBLE",
    ("calls", "started_at"): "TIMESTAMP WITH TIME ZONE",
    ("calls", "progress"): "BOOLEAN",
    ("runs", "tokens"): "BIGINT",
    ("runs", "cost_usd"): "DOUBLE",
    ("runs", "ended_at"): "TIMESTAMP WITH TIME ZONE",
    ("alerts", "evidence"): "JSON",
    ("alerts", "resolved_at"): "TIMESTAMP WITH TIME ZONE",
}


def sql_files(folder: str) -> set[str]:
    found = (files("otel_processor.store") / "sql" / folder).iterdir()
    return {entry.name.removesuffix(".sql") for entry in found if entry.name.endswith(".sql")}


@pytest.fixture
def empty(db: Path) -> Path:
    """A database without rows."""
    with Database(db).write(timeout_seconds=5):
        pass
    return db


@pytest.fixture
def filled(empty: Path) -> Path:
    """A database with a run in it."""
    spans = [tool_record("search", {"q": 1}, "nothing", parent="1" * 16) for _ in range(6)]
    spans.append(record({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, span="1" * 16))
    assert Recorder(empty).record(spans, timeout_seconds=5)
    return empty


@pytest.mark.parametrize("folder", ["schema", "views"])
def test_every_file_is_in_the_order_and_makes_what_it_is_named_after(folder: str, empty: Path) -> None:
    order = scripts.creation_order(folder)
    assert sorted(order) == sorted(sql_files(folder))
    kind = "duckdb_tables()" if folder == "schema" else "duckdb_views()"
    column = "table_name" if folder == "schema" else "view_name"
    there = f"select {column} from {kind} where database_name = current_database() and schema_name = 'main' and not internal"
    assert {row[0] for row in rows(empty, there)} == set(order)


def test_every_recording_statement_is_used_and_exists() -> None:
    """What Python names has a file, and every file is named."""
    folder = Path(otel_processor.recording.__file__).parent
    named = {
        name
        for path in folder.glob("*.py")
        for name in re.findall(r'recording_statement\("(\w+)"\)', path.read_text(encoding="utf-8"))
    }
    assert named == sql_files("recording")
    assert all(scripts.recording_statement(name).startswith("--") for name in named)


@pytest.mark.parametrize("table", [SPANS, CALLS, RUNS, TRACE_RUNS, ALERTS, POLICIES, WRITERS], ids=lambda table: table.name)
def test_what_is_written_is_what_the_table_has(table: object, empty: Path) -> None:
    assert isinstance(table, type(SPANS))
    there = [row[0] for row in rows(empty, f"select column_name from (describe {table.name})")]
    assert sorted(there) == sorted([*(set(table.given) - table.helpers), *table.made])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("state", ["empty", "filled"])
def test_relations_have_the_columns_that_users_rely_on(relation: str, state: str, request: pytest.FixtureRequest) -> None:
    db = request.getfixturevalue(state)
    there = {row[0]: row[1] for row in rows(db, f"select column_name, column_type from (describe {relation})")}
    assert [column for column in RELATIONS[relation].split() if column not in there] == []
    for (where, column), kind in TYPES.items():
        if where == relation:
            assert there[column] == kind, column
    assert bool(rows(db, f"select * from {relation}")) == (state == "filled")


def test_the_file_can_be_opened_by_older_duckdb(filled: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"attach '{filled}' as store (read_only)")
        (tags,) = connection.execute("select tags from duckdb_databases() where database_name = 'store'").fetchall()
        assert STORAGE_VERSION in str(tags[0]["storage_version"])


def test_a_file_that_duckdb_made_by_itself_is_written_too(db: Path) -> None:
    """Somebody opened the path in a shell before the agent first ran."""
    with duckdb.connect(str(db)) as connection:
        connection.execute("create table mine as select 1 as one")
    assert Recorder(db).record([tool_record("search", {"q": 1}, "hit")], timeout_seconds=5)
    assert value(db, "select count(*) from calls") == 1
    assert value(db, "select count(*) from mine") == 1


def test_an_empty_file_that_nobody_is_making_is_made(db: Path) -> None:
    """Somebody touched it, or was killed in the instant in which DuckDB made it."""
    db.touch()
    os.utime(db, (1_000_000_000, 1_000_000_000))
    assert Recorder(db).record([record()], timeout_seconds=5)
    assert value(db, "select count(*) from spans") == 1


@pytest.mark.parametrize("length", [100, 4_096, 8_192])
def test_a_file_whose_making_came_to_no_end_is_made_anew(length: int, filled: Path, db: Path) -> None:
    """A disk that was full, or a writer that was killed, leaves part of the headers: nothing is in such a file."""
    whole = filled.read_bytes()
    db.write_bytes(whole[:length])
    os.utime(db, (0, 0))
    assert Recorder(db).record([record()], timeout_seconds=5)
    assert value(db, "select count(*) from spans") == 1
    # What may be somebody's is left as it is.
    for others in (b"notes of somebody\n" * 100, whole[:12_287] + b"x" * 2):
        db.write_bytes(others)
        os.utime(db, (0, 0))
        with pytest.raises(StoreError), Database(db).write(timeout_seconds=0.2):
            pass
        assert db.read_bytes() == others


def test_an_empty_file_that_somebody_may_be_making_is_waited_for(db: Path) -> None:
    db.touch()
    with pytest.raises(StoreBusyError, match="being made"), Database(db).write(timeout_seconds=0.1):
        pass
    assert db.exists()


@pytest.mark.parametrize(
    "name", ["it's.duckdb", "a b;c.duckdb", "ünïcode-データ.duckdb", "no-suffix", 'quo"te.duckdb', "per%cent.duckdb"]
)
def test_any_file_name(name: str, tmp_path: Path) -> None:
    db = tmp_path / name
    assert Recorder(db).record([record()], timeout_seconds=5)
    assert value(db, "select count(*) from spans") == 1


def test_a_failed_transaction_leaves_nothing(filled: Path) -> None:
    database = Database(filled)
    before = value(filled, "select count(*) from spans")
    for error in (RuntimeError("ours"), KeyboardInterrupt()):
        with pytest.raises(type(error)), database.write(timeout_seconds=5) as connection:  # noqa: PT012 - the block is the point
            connection.execute("delete from spans")
            raise error
    with pytest.raises(duckdb.CatalogException), database.write(timeout_seconds=5) as connection:  # noqa: PT012 - likewise
        connection.execute("delete from spans")
        connection.execute("select * from nowhere")
    assert value(filled, "select count(*) from spans") == before
    with database.write(timeout_seconds=5) as connection:
        connection.execute("delete from spans")
    assert value(filled, "select count(*) from spans") == 0


def test_a_failed_first_transaction_leaves_no_half_schema(db: Path) -> None:
    database = Database(db)
    with pytest.raises(RuntimeError), database.write(timeout_seconds=5):
        raise RuntimeError
    with database.write(timeout_seconds=5) as connection:
        assert connection.execute("select count(*) from meta").fetchone() == (1,)


def test_nobody_holds_the_file_between_transactions(filled: Path) -> None:
    writer = Recorder(filled)
    assert writer.record([record()], timeout_seconds=5)
    with processes.held(filled):
        pass
    assert writer.record([record()], timeout_seconds=5)
    assert not filled.with_name(filled.name + ".wal").exists()


def test_busy_names_the_process_that_holds_the_file(filled: Path) -> None:
    with processes.held(filled) as pid:
        waited: list[bool] = []
        with (
            pytest.raises(StoreBusyError, match=rf"process {pid} \(.*python"),
            Database(filled).write(timeout_seconds=0.2, on_wait=lambda: waited.append(True)),
        ):
            pass
        assert waited == [True]
        with pytest.raises(StoreBusyError, match=f"process {pid}"):
            connect(filled, timeout_seconds=0.1)


def test_busy_names_a_reader_too(filled: Path) -> None:
    reader = processes.start(
        "import duckdb\nc = duckdb.connect(sys.argv[1], read_only=True)\nprint('held', flush=True)\nsys.stdin.read()",
        filled,
        preamble="import sys\n",
    )
    assert reader.stdout is not None
    try:
        assert reader.stdout.readline() == "held\n"
        with pytest.raises(StoreBusyError, match=f"process {reader.pid}"), Database(filled).write(timeout_seconds=0.1):
            pass
    finally:
        processes.finish(reader)


def test_a_connection_of_this_process_is_named_as_such(filled: Path) -> None:
    with (
        duckdb.connect(str(filled)),
        pytest.raises(StoreBusyError, match=rf"this process|process {os.getpid()}"),
        Database(filled).write(timeout_seconds=0.1),
    ):
        pass
    with Database(filled).write(timeout_seconds=5):
        pass


def test_reading_what_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no database at"):
        connect(tmp_path / "none.duckdb")
    (tmp_path / "notes.txt").write_text("no database" * 1_000)
    with pytest.raises(StoreError, match="not a DuckDB database"):
        connect(tmp_path / "notes.txt")


def test_connect_is_read_only(filled: Path) -> None:
    with connect(filled) as connection, pytest.raises(duckdb.Error, match="read-only"):
        connection.execute("delete from spans")


OLD_RUNS = """create table run_rows (run_id VARCHAR NOT NULL, task VARCHAR, task_type VARCHAR, agent VARCHAR, service VARCHAR,
    conversation_id VARCHAR, started_at TIMESTAMPTZ, ended_at TIMESTAMPTZ, last_seen_at TIMESTAMPTZ, stop_reason VARCHAR NOT NULL,
    flagged_reason VARCHAR, policy_hash VARCHAR NOT NULL, status VARCHAR NOT NULL)"""
"""As version 1.0 made it."""


def test_an_older_file_gets_the_columns_that_it_lacks_and_keeps_its_rows(filled: Path) -> None:
    before = rows(filled, "select run_id, task, tokens, status from runs")
    with Database(filled).write(timeout_seconds=5) as connection:
        connection.execute("create temp table kept as from run_rows")
        connection.execute("drop table run_rows")
        connection.execute(OLD_RUNS)
        connection.execute(
            "insert into run_rows select * "
            "exclude (root_input_tokens, root_output_tokens, root_cost_usd, idle_reason, is_guarded) from kept"
        )
        connection.execute("create or replace view runs as select * from run_rows")
        connection.execute("update meta set schema_minor = 0")
    used = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 7}
    assert Recorder(filled).record([record(used, trace="b" * 32)], timeout_seconds=5)
    assert value(filled, "select schema_minor from meta") == SCHEMA_MINOR
    assert rows(filled, f"select run_id, task, tokens, status from runs where run_id <> '{'b' * 32}'") == before
    assert rows(filled, f"select tokens, input_tokens, steps from runs where run_id = '{'b' * 32}'") == [(7, 7, 0)]


def test_a_newer_minor_schema_is_written_as_it_is(filled: Path) -> None:
    with Database(filled).write(timeout_seconds=5) as connection:
        connection.execute("update meta set schema_minor = 7")
        connection.execute("alter table spans add column later VARCHAR")
    assert Recorder(filled).record([record()], timeout_seconds=5)
    assert value(filled, "select schema_minor from meta") == 7


def test_a_file_that_could_not_be_opened_for_an_interruption_is_tried_again(tmp_path: Path) -> None:
    answers: list[Exception] = [duckdb.InterruptException("INTERRUPT Error: Interrupted!")]

    def attempt() -> str:
        if answers:
            raise translate(answers.pop(), tmp_path)
        return "open"

    assert retry_while_busy(attempt, timeout_seconds=5) == "open"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Out of Memory Error: could not allocate", StoreMemoryError),
        ('TransactionContext Error: Failed to commit: Could not write file "x": No space left on device', StoreFullError),
        ("IO Error: Detached database 'store', but CHECKPOINT during DETACH failed. ", StoreFullError),
        ("IO Error: Cannot open file: Permission denied", StoreUnavailableError),
    ],
)
def test_what_is_wrong_is_told_apart(tmp_path: Path, said: str, kind: type[Exception]) -> None:
    assert type(translate(duckdb.Error(said), tmp_path)) is kind


def test_the_spool_is_taken_along_as_long_as_that_may_go_on(db: Path) -> None:
    for _ in range(3):
        spool.save(db, spooled_columns(prepare([record()], Policy())))
    asked: list[int] = []

    def once() -> bool:
        asked.append(len(spool.pending(db)))
        return len(asked) == 1

    with pytest.MonkeyPatch.context() as small:
        small.setattr("otel_processor.recording.backlog.TAKEN_AT_ONCE", 1)
        assert not Recorder(db).fold_spool(timeout_seconds=5, goes_on=once)
    assert asked == [3, 2]
    assert len(spool.pending(db)) == 2
