"""The table of runs: what a search leaves, in the order that is asked for, a page at a time; all of it in the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from dashboard.filters import Filters
from dashboard.questions import runs as questions
from dashboard.run_search import FIRST_SORT, SORTS, RunSearch
from otel_processor.store.database import Database
from tests.dashboard import seed
from tests.dashboard.conftest import open_page, parameter, texts

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest


def runs_page(**parameters: str | list[str]) -> AppTest:
    """Open the table of runs."""
    page = open_page("views/runs.py", **parameters)
    assert not page.exception
    return page


def tasks(page: AppTest) -> list[str]:
    """The tasks in the table."""
    return [str(task) for task in page.dataframe[0].value["task"]] if page.dataframe else []


def found(**search: object) -> list[str]:
    """The ids of the runs that a search leaves, in its order."""
    answer = questions.page(Filters(), RunSearch(**search))  # type: ignore[arg-type]
    assert answer.problem == ""
    return [str(run_id) for run_id in answer.frame.get("run_id", [])]


def seed_many(db: Path, runs: int) -> None:
    """So many runs, the first the smallest."""
    with Database(db).write(timeout_seconds=10) as connection:
        for number in range(runs):
            seed.add_run(connection, f"{number:032x}", [seed.model(1, 100 + number)], task=f"task {number}")


def test_without_a_database_it_says_how_to_get_one(db: Path) -> None:
    assert "No database yet" in texts(runs_page())


def test_without_runs_it_says_so(empty_db: Path) -> None:
    assert "No runs yet" in texts(runs_page())


def test_every_run_is_a_row_with_a_link(seeded_db: Path) -> None:
    page = runs_page()
    table = page.dataframe[0].value
    assert len(table) == 7
    assert f"run?run={seed.LOOPING}" in list(table["run"])
    looping = table[table["run"] == f"run?run={seed.LOOPING}"].iloc[0]
    assert (looping["status"], looping["stop_reason"], looping["verdict"]) == ("running", "running", "repeated call")
    assert (looping["steps"], looping["streak"], looping["repeats"], looping["tokens"]) == (7, 6, "86 %", "7k")
    assert "Runs 1 to 7 of 7, sorted by started, descending." in texts(page)


@pytest.mark.parametrize(
    ("text", "task"),
    [("SUMMAR", "summarise"), (seed.TWO_AGENTS[-6:], "plan"), ("planner", "plan"), ("<script>", seed.HOSTILE_TEXT[:8])],
)
def test_a_text_is_found_in_task_agent_and_id_whatever_the_case(seeded_db: Path, text: str, task: str) -> None:
    page = runs_page(q=text)
    assert len(tasks(page)) == 1
    assert tasks(page)[0].startswith(task)
    assert page.text_input[0].value == text


def test_a_text_is_found_in_the_service(seeded_db: Path) -> None:
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, "9" * 32, [seed.model(1)], service="Billing")
    assert found(text="billing") == ["9" * 32]


def test_signs_of_sql_in_a_search_are_letters(seeded_db: Path) -> None:
    for text in ("%", "_", "'; drop table run_rows; --", "\\"):
        assert found(text=text) == []
    assert len(found()) == 7


def test_a_search_that_finds_nothing_says_so(seeded_db: Path) -> None:
    page = runs_page(q="no such thing")
    assert not page.dataframe
    assert "No run fits this search" in texts(page)


def test_searching_goes_into_the_address_and_back_to_the_first_page(empty_db: Path) -> None:
    seed_many(empty_db, 120)
    page = runs_page(page="3")
    assert len(tasks(page)) == 20
    page.text_input[0].set_value("task 1").run()
    assert not page.exception
    assert parameter(page, "q") == "task 1"
    assert "page" not in page.query_params
    assert set(tasks(page)) == {f"task {number}" for number in (1, *range(10, 20), *range(100, 120))}


def test_status_leaves_running_ended_or_looped_ones(seeded_db: Path) -> None:
    assert found(status="running") == [seed.LOOPING]
    assert set(found(status="looped")) == {seed.LOOPING, seed.RESOLVED}
    assert len(found(status="ended")) == 6
    page = runs_page(status="running")
    assert tasks(page) == ["research"]
    control = next(control for control in page.segmented_control if control.label == "Status")
    control.set_value("looped").run()
    assert parameter(page, "status") == "looped"
    assert sorted(tasks(page)) == ["crawl", "research"]


def test_stop_reasons_and_verdicts_can_be_chosen(seeded_db: Path) -> None:
    assert found(reasons=("running",)) == [seed.LOOPING]
    assert found(patterns=("no_progress",)) == [seed.RESOLVED]
    assert found(patterns=("loop_detected:no_progress",)) == [seed.RESOLVED]
    assert set(found(patterns=("no_progress", "hard_loop"))) == {seed.LOOPING, seed.RESOLVED}
    assert found(patterns=("hard_loop",), reasons=("completed",)) == []
    page = runs_page(pattern="no_progress")
    assert tasks(page) == ["crawl"]
    assert next(choice for choice in page.multiselect if choice.label == "Loop verdict").value == ["no_progress"]
    reasons = next(choice for choice in page.multiselect if choice.label == "Stop reason")
    assert set(reasons.options) == {"completed", "running"}
    reasons.set_value(["running"]).run()
    assert not page.exception
    assert parameter(page, "reason") == "running"
    assert tasks(page) == []


def test_the_filters_of_the_page_hold_as_well(seeded_db: Path) -> None:
    assert tasks(runs_page(task=["plan", "crawl"], q="cra")) == ["crawl"]


@pytest.mark.parametrize("name", SORTS)
def test_every_order_turns_round_and_keeps_what_is_not_known_last(seeded_db: Path, name: str) -> None:
    column = {
        "started": "started_at",
        "seen": "last_seen_at",
        "steps": "steps",
        "streak": "longest_flat_streak",
        "repeats": "repeated_signature_rate",
        "tokens": "tokens",
        "cost": "cost_usd",
        "wasted_cost": "wasted_cost_usd",
    }
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        for number in (1, 2):
            calls = [seed.model(1, cost_usd=number / 10), seed.flat(1, "x", {}, 1)]
            seed.add_run(connection, f"{number:032x}", calls, seconds_per_call=number)
    for descending in (True, False):
        frame = questions.page(Filters(), RunSearch(sort=name, descending=descending)).frame
        assert len(frame) == 9
        if name == "duration":
            values = (frame["ended_at"].fillna(frame["last_seen_at"]) - frame["started_at"]).tolist()
        else:
            values = frame[column[name]].tolist()
        known = [value for value in values if not pd.isna(value)]
        assert len(set(known)) > 1
        assert known == sorted(known, reverse=descending)
        assert values[: len(known)] == known


def test_an_order_that_there_is_not_is_the_first_one(seeded_db: Path) -> None:
    for sort in ("task; drop table run_rows", "", "run_id"):
        page = runs_page(sort=sort, desc="maybe", page="x")
        assert next(box for box in page.selectbox if box.label == "Sort by").value == FIRST_SORT
        assert len(tasks(page)) == 7


def test_sorting_goes_into_the_address(seeded_db: Path) -> None:
    page = runs_page()
    next(box for box in page.selectbox if box.label == "Sort by").set_value("tokens").run()
    assert tasks(page)[0] == "research"
    next(control for control in page.segmented_control if control.label == "Order").set_value("up").run()
    assert not page.exception
    assert (parameter(page, "sort"), parameter(page, "desc")) == ("tokens", "0")
    known = [tokens for tokens in page.dataframe[0].value["tokens"] if tokens != "-"]
    assert known[-1] == "7k"


def test_a_table_of_hundreds_comes_fifty_rows_at_a_time(empty_db: Path) -> None:
    seed_many(empty_db, 120)
    seen = []
    for number in ("1", "2", "3"):
        page = runs_page(sort="tokens", desc="0", page=number)
        seen += tasks(page)
        assert "of 120, sorted by tokens, ascending" in texts(page)
    assert seen == [f"task {number}" for number in range(120)]


def test_a_page_beyond_the_last_is_the_last(empty_db: Path) -> None:
    seed_many(empty_db, 60)
    page = runs_page(page="999")
    assert len(tasks(page)) == 10
    assert parameter(page, "page") == "2"


def test_hostile_names_stay_text(seeded_db: Path) -> None:
    page = runs_page()
    table = page.dataframe[0].value
    for acting in ("\x1b", "\u202e"):
        assert acting not in table.to_string()
    read_as_markup = [str(element.value) for kind in (page.markdown, page.caption) for element in kind]
    assert not any("<script" in text for text in read_as_markup)


def test_it_speaks_spanish(seeded_db: Path) -> None:
    page = runs_page(lang="es")
    assert page.title[0].value == "Ejecuciones"
    assert "Ejecuciones 1 a 7 de 7" in texts(page)


def test_an_address_says_the_search_and_is_read_back() -> None:
    search = RunSearch("cats", "looped", ("completed",), ("cycle", "limit"), "cost", descending=False, page=4)
    assert RunSearch.of_address(search.to_address()) == search
    assert RunSearch().to_address() == {}
    assert RunSearch.of_address({}) == RunSearch()


@pytest.mark.parametrize(
    "address",
    [
        {"sort": ["x"], "status": ["y"], "page": ["-1"], "desc": [""]},
        {"page": ["0"]},
        {"page": ["٣"]},
        {"page": ["9" * 30]},
        {"q": [" " * 500]},
        {"sort": [], "q": []},
    ],
)
def test_what_makes_no_sense_in_an_address_is_left_out(address: dict[str, list[str]]) -> None:
    assert RunSearch.of_address(address) == RunSearch()
