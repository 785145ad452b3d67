"""The example queries of the SQL page, and what it says that there is to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_processor.querying.user_query import QueryResult, UserQuery
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only
from otel_processor.store.scripts import examples, query

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = {example.name: example for example in examples()}


def answer(db: Path, name: str) -> QueryResult:
    return UserQuery(db, EXAMPLES[name].text).run()


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_finds_rows(asked: Path, name: str) -> None:
    result = answer(asked, name)
    assert result.table.num_rows > 0
    assert result.more is None


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_runs_on_an_empty_database(db: Path, name: str) -> None:
    with Database(db).write(timeout_seconds=5):
        pass
    assert answer(db, name).table.num_rows == 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_has_a_question_for_a_title_and_a_bound(name: str) -> None:
    example = EXAMPLES[name]
    assert "?" in example.title
    assert not example.title.startswith("--")
    assert "limit" in example.text
    assert not example.text.startswith("--")


def test_there_is_no_example_beside_the_list() -> None:
    from importlib.resources import files

    folder = files("otel_processor.store") / "sql" / "examples"
    assert {entry.name for entry in folder.iterdir()} == {f"{name}.sql" for name in EXAMPLES} | {"_order"}


def test_they_answer_what_their_titles_ask(asked: Path) -> None:
    (loop,) = {row["run_id"] for row in answer(asked, "looping_now").table.to_pylist()}
    assert loop == "loop"
    most = answer(asked, "most_repeated_calls").table.to_pylist()[0]
    assert (most["run_id"], most["tool"], most["times"]) == ("loop", "search", 6)
    (above,) = answer(asked, "above_the_usual").table.to_pylist()
    assert (above["run_id"], above["steps"]) == ("done5", 20)
    (failing,) = answer(asked, "error_classes_per_tool").table.to_pylist()
    assert (failing["tool"], failing["error_class"], failing["failures"]) == ("get", "transient", 3)
    (cached,) = answer(asked, "cache_share_per_model").table.to_pylist()
    assert cached["cache_percent"] == 40.0
    assert {row["step"] for row in answer(asked, "step_by_step").table.to_pylist()} != {None}


def test_the_schema_names_every_column_views_first(asked: Path) -> None:
    with open_read_only(asked) as connection:
        rows = connection.execute(query("schema_columns"), {"limit": 10_000}).fetchall()
        views = {name for (name,) in connection.execute("select view_name from duckdb_views() where not internal").fetchall()}
        tables = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
    relations = list(dict.fromkeys((relation, kind) for relation, kind, _, _ in rows))
    assert relations[:2] == [("runs", "view"), ("calls", "view")]
    assert [kind for _, kind in relations] == ["view"] * len(views) + ["table"] * len(tables)
    assert {name for name, _ in relations} == views | tables
    assert ("runs", "view", "stop_reason", "VARCHAR") in rows
    assert ("spans", "table", "attributes", "JSON") in rows
