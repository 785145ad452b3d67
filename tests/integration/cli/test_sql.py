"""`otel-processor sql` on real files."""

from __future__ import annotations

import csv
import io
import json
import time
from typing import TYPE_CHECKING

import duckdb
import pytest

from otel_processor.cli import cli
from tests.integration.cli.conftest import held

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import CliRunner, Result

ODD = """
create table odd as select
    170141183460469231731687303715884105727::HUGEINT as huge,
    12.50::DECIMAL(10, 2) as price,
    123456789012345678901234567890.1234::DECIMAL(38, 4) as precise,
    timestamptz '2026-01-02 03:04:05.678+00' as moment,
    timestamp '2026-01-02 03:04:05' as naive,
    date '2026-01-02' as day,
    'NaN'::DOUBLE as nan,
    'Infinity'::DOUBLE as infinity,
    '\\xAA\\x00'::BLOB as bytes,
    {'a': [1, 2], 'b': 'x'} as nested,
    map {'k': 1.5} as mapped,
    interval '26 hours' as span,
    '00000000-0000-0000-0000-000000000001'::UUID as id,
    '{"deep": [1, {"big": 12345678901234567890}]}'::JSON as document,
    true as yes,
    NULL as nothing,
    'a "quoted", text' || chr(10) || 'näher 日本' as words
"""


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute(ODD)
    connection.close()
    return path


def ask(runner: CliRunner, db: Path, query: str, *options: str) -> Result:
    return runner.invoke(cli, ["sql", "--db", str(db), query, *options])


def test_table_is_duckdbs_box(runner: CliRunner, odd: Path) -> None:
    """The default format draws a box with names, types and values."""
    result = ask(runner, odd, "select price, day, words from odd")
    assert result.exit_code == 0
    assert "┌" in result.stdout
    assert "decimal(10,2)" in result.stdout
    assert "12.50" in result.stdout
    assert "日本" in result.stdout


def test_table_fits_the_terminal(runner: CliRunner, odd: Path) -> None:
    """No line is wider than the terminal."""
    result = ask(runner, odd, "select * from odd")
    assert max(len(line) for line in result.stdout.splitlines()) <= 120


def test_table_says_when_rows_were_cut(runner: CliRunner, odd: Path) -> None:
    """The limit is told on standard error, and only when there are more rows."""
    cut = ask(runner, odd, "select i from range(1001) t(i)")
    whole = ask(runner, odd, "select i from range(1000) t(i)")
    assert "999" in cut.stdout
    assert "1000 │" not in cut.stdout
    assert "Only the first 1,000 rows" in cut.stderr
    assert whole.stderr == ""
    assert "Only the first 7 rows" in ask(runner, odd, "from range(8)", "--limit", "7").stderr


def test_terminal_control_characters_are_shown_not_sent(runner: CliRunner, odd: Path) -> None:
    """What an agent recorded cannot paint on the terminal of whoever reads it."""
    result = ask(runner, odd, "select chr(27) || '[31mred' || chr(155) || 'x' as x")
    assert "\x1b" not in result.stdout
    assert "\x9b" not in result.stdout
    assert "red" in result.stdout


def test_explain_shows_the_plan(runner: CliRunner, odd: Path) -> None:
    """A plan is printed as it is drawn, not folded into a cell."""
    result = ask(runner, odd, "explain select * from odd")
    assert result.exit_code == 0
    assert "SEQ SCAN" in result.stdout.upper().replace("_", " ")
    assert "explain_value" not in result.stdout


def test_json_holds_odd_values(runner: CliRunner, odd: Path) -> None:
    """One array of objects; numbers stay exact, what JSON cannot say becomes text or null."""
    result = ask(runner, odd, "select * from odd", "--format", "json")
    assert result.exit_code == 0
    (row,) = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert row == {
        "huge": 170141183460469231731687303715884105727,
        "price": 12.5,
        "precise": "123456789012345678901234567890.1234",
        "moment": "2026-01-02T03:04:05.678000+00:00",
        "naive": "2026-01-02T03:04:05",
        "day": "2026-01-02",
        "nan": None,
        "infinity": None,
        "bytes": "aa00",
        "nested": {"a": [1, 2], "b": "x"},
        "mapped": {"k": 1.5},
        "span": "1 day, 2:00:00",
        "id": "00000000-0000-0000-0000-000000000001",
        "document": {"deep": [1, {"big": 12345678901234567890}]},
        "yes": True,
        "nothing": None,
        "words": 'a "quoted", text\nnäher 日本',
    }


def test_json_of_no_rows_is_an_empty_array(runner: CliRunner, odd: Path) -> None:
    """A script can parse the answer to every query."""
    assert json.loads(ask(runner, odd, "select 1 where false", "--format", "json").stdout) == []


def test_json_keeps_columns_of_one_name_apart(runner: CliRunner, odd: Path) -> None:
    """A join with two columns of a name loses neither."""
    (row,) = json.loads(ask(runner, odd, "select 1 as a, 2 as a, 3 as a_1", "--format", "json").stdout)
    assert sorted(row.values()) == [1, 2, 3]


def test_json_lines_are_one_object_each(runner: CliRunner, odd: Path) -> None:
    """More rows than one fetch brings, each on its line."""
    result = ask(runner, odd, "select i from range(5000) t(i)", "--format", "jsonl")
    assert [json.loads(line)["i"] for line in result.stdout.splitlines()] == list(range(5000))


def test_csv_has_a_header_and_odd_values(runner: CliRunner, odd: Path) -> None:
    """Text with quotes and newlines survives; NULL is empty; nested values are JSON."""
    result = ask(runner, odd, "select * from odd", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    assert row["huge"] == "170141183460469231731687303715884105727"
    assert row["price"] == "12.50"
    assert row["moment"] == "2026-01-02T03:04:05.678000+00:00"
    assert row["nan"] == "nan"
    assert row["bytes"] == "aa00"
    assert json.loads(row["nested"]) == {"a": [1, 2], "b": "x"}
    assert row["yes"] == "true"
    assert row["nothing"] == ""
    assert row["words"] == 'a "quoted", text\nnäher 日本'


def test_csv_takes_a_limit(runner: CliRunner, odd: Path) -> None:
    """The limit holds for streamed formats too."""
    assert ask(runner, odd, "from range(9)", "--format", "csv", "--limit", "2").stdout == "range\n0\n1\n"


def test_parquet_holds_odd_values(runner: CliRunner, odd: Path, tmp_path: Path) -> None:
    """Types that Parquet knows keep their meaning; an interval comes as text."""
    parquet = pytest.importorskip("pyarrow.parquet")
    output = tmp_path / "odd.parquet"
    result = ask(runner, odd, "select * from odd", "--format", "parquet", "--output", str(output))
    assert result.exit_code == 0, result.stderr
    (row,) = parquet.read_table(output).to_pylist()
    assert int(row["huge"]) == 170141183460469231731687303715884105727
    assert row["moment"].isoformat() == "2026-01-02T03:04:05.678000+00:00"
    assert row["nested"] == {"a": [1, 2], "b": "x"}
    assert row["bytes"] == b"\xaa\x00"
    assert "26:00:00" in row["span"] or "1 day" in row["span"]


def test_parquet_to_a_pipe_with_equal_names(runner: CliRunner, odd: Path) -> None:
    """Without a terminal the file goes to standard output; columns of one name are kept apart."""
    parquet = pytest.importorskip("pyarrow.parquet")
    result = ask(runner, odd, "select 1 as a, 2 as a from range(3000)", "--format", "parquet", "--limit", "2500")
    table = parquet.read_table(io.BytesIO(result.stdout_bytes))
    assert table.column_names == ["a", "a_1"]
    assert table.num_rows == 2500


def test_nested_interval_is_refused_for_parquet(runner: CliRunner, odd: Path, tmp_path: Path) -> None:
    """What cannot be written is said in a line, and no half file stays."""
    pytest.importorskip("pyarrow.parquet")
    output = tmp_path / "x.parquet"
    result = ask(runner, odd, "select {'i': interval '1 day'} as s", "--format", "parquet", "--output", str(output))
    assert result.exit_code == 2
    assert "cast it in the query" in result.stderr
    assert list(tmp_path.glob("*parquet*")) == []


def test_output_file_is_replaced_only_by_a_whole_one(runner: CliRunner, odd: Path, tmp_path: Path) -> None:
    """A query that fails half way leaves the file as it was."""
    output = tmp_path / "rows.csv"
    output.write_text("before")
    failing = "select case when i < 4500 then i else error('late') end as i from range(5000) t(i)"
    assert ask(runner, odd, failing, "--format", "csv", "--output", str(output)).exit_code == 2
    assert output.read_text() == "before"
    assert ask(runner, odd, "select 1 as a", "--format", "csv", "--output", str(output)).exit_code == 0
    assert output.read_text() == "a\n1\n"


def test_several_statements_show_the_last(runner: CliRunner, odd: Path) -> None:
    """All run in order, the last one's rows are written."""
    query = "create temp table t as select 41 as i; update t set i = i + 1; select i from t -- done"
    assert ask(runner, odd, query, "--format", "csv").stdout == "i\n42\n"


def test_a_comment_after_the_end_is_no_error(runner: CliRunner, odd: Path) -> None:
    """A semicolon and a comment at the end, also behind text that holds both."""
    for query in ("select 'ä;--' as x; -- done; really", "select 'ä;--' as x /* ; */ ;;", "select 'ä;--' as x -- no end"):
        result = ask(runner, odd, query)
        assert result.exit_code == 0, result.stderr
        assert "ä;--" in result.stdout


def test_pivot_works(runner: CliRunner, odd: Path) -> None:
    """A statement that DuckDB itself splits into several is still one query."""
    query = "create temp table t as select * from (values ('a', 1), ('b', 2)) v(k, n); pivot t on k using sum(n)"
    (row,) = json.loads(ask(runner, odd, query, "--format", "json").stdout)
    assert (row["a"], row["b"]) == (1, 2)


def test_query_from_standard_input(runner: CliRunner, odd: Path) -> None:
    """`-` reads the query."""
    result = runner.invoke(cli, ["sql", "--db", str(odd), "-", "--format", "csv"], input="select 1\n  as one;")
    assert result.stdout == "one\n1\n"


@pytest.mark.parametrize(
    "query",
    [
        "insert into odd select * from odd",
        "update odd set price = 1",
        "delete from odd",
        "create table t (a int)",
        "create view v as select 1",
        "drop table odd",
        "alter table odd add column z int",
        "copy odd to 'stolen.csv'",
        "export database 'stolen'",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from '/etc/passwd'",
        "from 'other.parquet'",
        "select * from glob('/*')",
        "attach 'other.duckdb'",
        "set threads = 1",
        "set enable_external_access = true",
        "install httpfs",
        "load httpfs",
    ],
)
def test_writing_and_files_are_refused(
    runner: CliRunner, odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """Whatever reaches beyond reading this database is refused in one line."""
    monkeypatch.chdir(tmp_path)
    before = odd.read_bytes()
    result = ask(runner, odd, query)
    assert result.exit_code == 2
    assert "read-only" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert odd.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["odd.duckdb"]


def test_python_variables_are_no_tables(runner: CliRunner, odd: Path) -> None:
    """A name in a query never means a variable of the program."""
    result = ask(runner, odd, "select * from querying")
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


def test_a_wrong_query_points_at_the_place(runner: CliRunner, odd: Path) -> None:
    """DuckDB's sentence in one line, then the line and a caret."""
    result = ask(runner, odd, "select price from odd where prise = 1")
    assert result.exit_code == 2
    first, line, caret = result.stderr.rstrip("\n").split("\n")
    assert first.startswith('Error: Binder Error: Referenced column "prise" not found')
    assert line == "LINE 1: select price from odd where prise = 1"
    assert caret.index("^") == line.index("prise")


def test_no_sql_is_said(runner: CliRunner, odd: Path) -> None:
    """An empty query is wrong usage."""
    result = ask(runner, odd, " ; ")
    assert result.exit_code == 2
    assert "no SQL" in result.stderr


@pytest.mark.parametrize("format_", ["table", "csv"])
def test_a_long_query_is_stopped(runner: CliRunner, odd: Path, format_: str) -> None:
    """The time limit interrupts the query and says how to give it more."""
    began = time.monotonic()
    query = "select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3"
    result = ask(runner, odd, query, "--timeout", "0.5", "--format", format_)
    assert result.exit_code == 1
    assert "longer than 0.5 s" in result.stderr
    assert "--timeout" in result.stderr
    assert time.monotonic() - began < 10


def test_a_missing_database_is_named(runner: CliRunner, tmp_path: Path) -> None:
    """A wrong path is wrong usage, and is not created."""
    path = tmp_path / "none.duckdb"
    result = ask(runner, path, "select 1")
    assert result.exit_code == 2
    assert str(path) in result.stderr
    assert not path.exists()


def test_a_foreign_file_is_named(runner: CliRunner, tmp_path: Path) -> None:
    """A file that is no database is said to be none."""
    path = tmp_path / "notes.txt"
    path.write_text("no database " * 1000)
    result = ask(runner, path, "select 1")
    assert result.exit_code == 1
    assert "not a DuckDB database" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_held_database_names_its_holder(runner: CliRunner, odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds the file for longer than we wait is named."""
    monkeypatch.setattr("otel_processor.querying.connection.LOCK_SECONDS", 0.3)
    with held(odd) as pid:
        result = ask(runner, odd, "select 1")
    assert result.exit_code == 1
    assert f"process {pid}" in result.stderr


def test_the_database_is_taken_from_the_environment(runner: CliRunner, odd: Path) -> None:
    """Without --db, OTEL_PROCESSOR_DB says which."""
    result = runner.invoke(cli, ["sql", "select 1 as a", "--format", "csv"], env={"OTEL_PROCESSOR_DB": str(odd)})
    assert result.stdout == "a\n1\n"


def test_the_views_answer_on_an_empty_database(runner: CliRunner, database: Path) -> None:
    """Every relation that the help names can be asked."""
    names = (
        "runs calls alerts steps_per_task tokens_per_task stop_reason_distribution repeated_tool_signature_rate "
        "no_progress_steps flat_streaks"
    ).split()
    for name in names:
        result = ask(runner, database, f"select count(*) as n from {name}", "--format", "csv")
        assert result.stdout == "n\n0\n", result.stderr


@pytest.mark.parametrize(
    "statement", ["copy odd to '{db}.tmp/x.csv'", "export database '{db}.tmp'", "attach '{db}.tmp/y.duckdb'"]
)
def test_the_engines_own_temporary_folder_is_no_way_out(runner: CliRunner, odd: Path, statement: str) -> None:
    """DuckDB may write there whatever else is forbidden."""
    odd.with_name(odd.name + ".tmp").mkdir()
    result = ask(runner, odd, statement.format(db=odd))
    assert result.exit_code == 2
    assert "read-only" in result.stderr
    assert list(odd.with_name(odd.name + ".tmp").iterdir()) == []


def test_the_rows_are_not_written_over_the_database(runner: CliRunner, odd: Path) -> None:
    """`--output` with the database's own name would replace it by a table."""
    before = odd.read_bytes()
    result = ask(runner, odd, "select 1", "--format", "csv", "--output", str(odd))
    assert result.exit_code == 2
    assert "belongs to the database" in result.stderr
    assert odd.read_bytes() == before


def test_a_stream_of_short_fetches_is_stopped_in_time(runner: CliRunner, odd: Path) -> None:
    """Each fetch is quick; all of them together are not."""
    begun = time.monotonic()
    result = ask(runner, odd, "select * from range(1000000000)", "--format", "csv", "--timeout", "1")
    assert result.exit_code != 0
    assert "--timeout" in result.stderr
    assert time.monotonic() - begun < 20
