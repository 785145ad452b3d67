"""One query of a page: what it may not do, what it may take, and that it can be stopped."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import duckdb
import pytest

from otel_processor.errors import ConfigError, QueryError, QueryStoppedError, StoreError
from otel_processor.querying.bounds import Bounds
from otel_processor.querying.user_query import QueryResult, UserQuery
from otel_processor.store.database import Database

ENDLESS = "select count(*) from range(10000000) a, range(10000000) b where (a.range * b.range) % 7 = 3"


def ask(db: Path, text: str, **bounds: float) -> QueryResult:
    return UserQuery(db, text, Bounds(**bounds)).run()  # type: ignore[arg-type]


def test_it_finds_rows_with_their_types(asked: Path) -> None:
    result = ask(asked, "select run_id, steps, started_at, NULL as nothing from runs order by run_id")
    assert result.names == ("run_id", "steps", "started_at", "nothing")
    assert result.types[:3] == ("VARCHAR", "BIGINT", "TIMESTAMP WITH TIME ZONE")
    assert result.table.column("run_id").to_pylist() == [f"done{run}" for run in range(6)] + ["loop"]
    assert (result.more, result.cells_cut) == (None, 0)


def test_rows_beyond_the_limit_are_told(asked: Path) -> None:
    assert ask(asked, "from range(1000)", limit_rows=1000).more is None
    result = ask(asked, "from range(1001)", limit_rows=1000)
    assert (result.table.num_rows, result.more) == (1000, "rows")
    assert result.table.column("range").to_pylist() == list(range(1000))


def test_bytes_beyond_the_bound_are_told(asked: Path) -> None:
    result = ask(asked, "select repeat('x', 1000) || range as x from range(900)", max_bytes=100_000)
    assert result.more == "bytes"
    assert 80 < result.table.num_rows < 100
    assert result.table.nbytes <= 100_000
    with pytest.raises(QueryError, match="one row alone is larger"):
        ask(asked, "select repeat('x', 1000000) as x", max_bytes=100_000)


def test_a_long_text_is_cut_and_counted(asked: Path) -> None:
    result = ask(asked, "select repeat('ä', 50 + range::INT) as x, 'y' as y from range(52)", max_cell_chars=100)
    assert [len(text) for text in result.table.column("x").to_pylist()] == [*range(50, 101), 100]
    assert result.cells_cut == 1


def test_texts_of_fifty_megabytes_are_cut_where_they_are_made(asked: Path) -> None:
    result = ask(asked, "select repeat('x', 50000000) || range as x from range(3)")
    assert (result.cells_cut, result.table.nbytes < 4_000_000) == (3, True)


@pytest.mark.parametrize(
    "query",
    [
        "select range(100000000) as x",
        "select repeat('x', 50000000) || range as x from range(2000)",
        "select string_agg(range::VARCHAR) from range(1000000000)",
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="the system has no bound on a process's memory")
def test_memory_has_a_bound(asked: Path, query: str) -> None:
    with pytest.raises(QueryError, match=r"more than the .* MiB of memory"):
        ask(asked, query)


def test_columns_of_one_name_are_told_apart(asked: Path) -> None:
    assert ask(asked, "select 1 as a, 2 as a, 3 as a_1").table.num_columns == 3
    (row,) = ask(asked, 'select 1 as a, 2 as a, 3 as "A"').table.to_pylist()
    assert sorted(row.values()) == [1, 2, 3]


def test_other_alphabets_are_names(asked: Path) -> None:
    result = ask(asked, 'select "größe ☃" as "数", \'a\' || chr(0) as zero from (select 1 as "größe ☃")')
    assert result.table.to_pylist() == [{"数": 1, "zero": "a\0"}]


@pytest.mark.parametrize(
    "query",
    [
        "insert into spans (trace_id) values ('x')",
        "update run_rows set task = 'x'",
        "delete from spans",
        "create table t (a int)",
        "create or replace view runs as select 1",
        "drop table spans",
        "select 1; drop table spans",
        "select 1\0; drop table spans",
        "attach 'other.duckdb'",
        "attach ':memory:' as m",
        "detach agents",
        "copy spans to 'stolen.csv'",
        "copy (select 1) to 'stolen.parquet'",
        "export database 'stolen'",
        "import database '/tmp'",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from read_blob(['/etc/passwd'])",
        "select * from sniff_csv('/etc/passwd')",
        "select * from parquet_metadata('x.parquet')",
        "select * from glob('/*')",
        "from '/etc/passwd'",
        "from 'https://example.com/x.parquet'",
        "from query_table('/etc/passwd')",
        "install httpfs",
        "load httpfs",
        "set threads = 64",
        "set memory_limit = '100GB'",
        "reset memory_limit",
        "set enable_external_access = true",
        "set global lock_configuration = false",
        "pragma threads = 64",
        "pragma enable_profiling = 'json'",
        "pragma profiling_output = 'stolen'",
        "call enable_logging(storage = 'file', storage_path = 'stolen')",
        "create persistent secret s (type http, bearer_token 'x')",
    ],
)
def test_what_is_no_reading_of_this_database_is_refused(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before, beside = asked.read_bytes(), sorted(tmp_path.iterdir())
    with pytest.raises(QueryError) as caught:
        ask(asked, query)
    assert len(str(caught.value).splitlines()) == 1 or "LINE" in str(caught.value)
    assert asked.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == beside


@pytest.mark.parametrize("query", ["select getenv('HOME')", "select * from nowhere", "sel\0ect", "", " ; -- nothing", "\ud800"])
def test_what_makes_no_sense_is_said_in_a_sentence(asked: Path, query: str) -> None:
    with pytest.raises(QueryError) as caught:
        ask(asked, query)
    assert not isinstance(caught.value, QueryStoppedError)
    assert 5 < len(str(caught.value).splitlines()[0]) < 300


def test_the_environment_of_the_page_is_no_part_of_the_answer(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_PAGE", "hunter2")
    text = str(ask(asked, "select * from duckdb_settings()").table.to_pylist())
    assert "memory_limit" in text
    assert "hunter2" not in text


def test_a_recursion_without_an_end_is_read_up_to_the_limit_or_stopped(asked: Path) -> None:
    endless = "with recursive r(i) as (select 1 union all select i + 1 from r)"
    assert ask(asked, f"{endless} select i from r", limit_rows=10).table.num_rows == 10
    with pytest.raises(QueryStoppedError, match="longer than 1 s"):
        ask(asked, f"{endless} select count(*) from r", timeout_seconds=1)


def test_a_query_that_takes_too_long_is_stopped_and_lets_go_of_the_file(asked: Path) -> None:
    with pytest.raises(QueryStoppedError, match="longer than 1 s"):
        ask(asked, "select * from range(100000000) a, range(1000000) b order by a.range * b.range", timeout_seconds=1)
    with Database(asked).write(timeout_seconds=0):
        pass


def test_a_query_is_cancelled_from_another_thread_and_lets_go_of_the_file(asked: Path) -> None:
    query = UserQuery(asked, ENDLESS)
    thread, said = in_a_thread(query)
    until_it_holds(asked)
    query.cancel()
    thread.join(10)
    assert not thread.is_alive()
    (error,) = said
    assert isinstance(error, QueryStoppedError)
    assert str(error) == "the query was cancelled"
    with Database(asked).write(timeout_seconds=0):
        pass


def in_a_thread(query: UserQuery) -> tuple[threading.Thread, list[QueryError]]:
    """Run a query; the list gets what it raises."""
    said: list[QueryError] = []

    def run() -> None:
        try:
            query.run()
        except QueryError as error:
            said.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, said


def until_it_holds(db: Path) -> None:
    """Wait until a writer finds the file taken."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            duckdb.connect(str(db)).close()
        except duckdb.Error:
            return
        time.sleep(0.01)
    raise AssertionError("the query never opened the file")


def test_a_query_that_was_cancelled_before_is_not_begun(asked: Path) -> None:
    query = UserQuery(asked, ENDLESS)
    query.cancel()
    with pytest.raises(QueryStoppedError, match="cancelled"):
        query.run()


def test_a_query_runs_once(asked: Path) -> None:
    query = UserQuery(asked, "select 1")
    query.run()
    query.cancel()
    with pytest.raises(ConfigError, match="already"):
        query.run()


def test_others_of_this_process_read_meanwhile(asked: Path) -> None:
    """DuckDB opens a file once in a process; this one's other questions have other settings."""
    query = UserQuery(asked, ENDLESS)
    thread, _ = in_a_thread(query)
    until_it_holds(asked)
    connection = duckdb.connect(str(asked), read_only=True)
    assert connection.execute("select count(*) from runs").fetchall() == [(7,)]
    connection.close()
    query.cancel()
    thread.join(10)
    assert not thread.is_alive()


def test_a_database_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no database at"):
        ask(tmp_path / "none.duckdb", "select 1")


def test_a_module_in_the_working_folder_is_not_taken_for_ours(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "duckdb.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    assert ask(asked, "select 1 as a").table.to_pylist() == [{"a": 1}]
