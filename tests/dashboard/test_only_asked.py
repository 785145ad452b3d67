"""Of an agent that only asked the guard nobody knows its steps: pages say so, and never 0."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from dashboard.filters import Filters
from dashboard.questions import runs as run_questions
from dashboard.run_search import RunSearch
from otel_processor.store.database import Database
from tests.dashboard import seed
from tests.dashboard.conftest import open_page, texts

if TYPE_CHECKING:
    from pathlib import Path

REASON = "loop_detected:repeated_tool_signature"
ASKED = "only-asks"


def write(db: Path, run_id: str = ASKED, calls: list[seed.Row] | None = None, *, alert: bool = True, **columns: Any) -> None:
    """Write a run that the guard told of, and its alert."""
    told: seed.Row = {"service": "otel_processor.guard", "is_guarded": True, "stop_reason": REASON, "flagged_reason": REASON}
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, run_id, calls or [], **(told | columns))
        if alert:
            seed.add_alert(connection, run_id, 0, message="it goes in circles", resolved_at=columns.get("ended_at"))


@pytest.mark.parametrize(
    ("used", "language", "sentences"),
    [
        (
            {"root_input_tokens": 930, "root_cost_usd": 0.5},
            "en",
            ("Ended: loop: repeated call; 930 tokens, $0.50, steps not known", "1 run, 1 looped, $0.50\n"),
        ),
        (
            {"root_input_tokens": 930},
            "en",
            ("Ended: loop: repeated call; 930 tokens, steps not known", "1 run, 1 looped, 930 tokens\n"),
        ),
        ({}, "en", ("Ended: loop: repeated call; tokens not reported, steps not known", "1 run, 1 looped\n")),
        ({}, "es", ("Terminó: bucle: llamada repetida; tokens no comunicados, pasos no conocidos",)),
    ],
)
def test_this_moment_says_that_steps_are_not_known(db: Path, used: seed.Row, language: str, sentences: tuple[str, ...]) -> None:
    write(db, **used)
    seen = texts(open_page("views/now.py", lang=language))
    assert [sentence for sentence in sentences if sentence not in seen] == []


@pytest.mark.parametrize("guarded", [True, None])
def test_a_row_from_before_the_guard_was_noted_is_told_by_its_service(db: Path, guarded: bool | None) -> None:
    write(db, is_guarded=guarded)
    assert "steps not known" in texts(open_page("views/now.py"))


def test_calls_that_came_are_counted(db: Path) -> None:
    write(db, calls=[seed.tool(1, "search", {"q": "a"}), seed.tool(2, "search", {"q": "b"})])
    assert "Ended: loop: repeated call, after 2 steps, tokens not reported" in texts(open_page("views/now.py"))


def test_an_open_run_has_a_dash_and_stands_among_the_others(db: Path) -> None:
    begun = datetime.now(UTC) - timedelta(seconds=60)
    open_run: seed.Row = {"ended_at": None, "status": "running", "stop_reason": "running", "started_at": begun}
    write(db, **open_run)
    write(db, "counted", [seed.model(1), seed.tool(1, "search", {"q": "a"})], alert=False, **open_run)
    page = open_page("views/now.py")
    assert "So far tokens not reported, steps not known" in texts(page)
    (shown,) = page.dataframe
    table = shown.value.set_index("run")
    assert list(table.index) == [f"run?run={ASKED}", "run?run=counted"]
    assert table.loc[f"run?run={ASKED}", ["steps", "streak"]].isna().all()
    assert list(table.loc["run?run=counted", ["steps", "streak"]]) == [1, 0]


def test_tables_of_runs_hold_no_number_for_it(db: Path) -> None:
    write(db, root_input_tokens=930, root_cost_usd=0.5)
    write(db, "counted", [seed.tool(1, "search", {"q": "a"})])
    for view in ("runs", "spend"):
        page = open_page(f"views/{view}.py")
        assert not page.exception
        table = next(frame.value for frame in page.dataframe if "steps" in frame.value).set_index("run")
        assert list(table["steps"].isna()) == [run.endswith(ASKED) for run in table.index], view
    for descending in (True, False):
        found = run_questions.page(Filters(), RunSearch(sort="steps", descending=descending)).frame
        assert list(found["run_id"]) == ["counted", ASKED]


def test_it_is_no_measure_of_what_a_task_takes(db: Path) -> None:
    write(db, root_input_tokens=930)
    page = open_page("views/overview.py")
    assert not page.exception
    assert texts(page).count("No step of these runs is stored.") == 2
    write(db, "counted", [seed.tool(1, "search", {"q": "a"})])
    with Database(db).write(timeout_seconds=10) as connection:
        assert connection.execute("select runs, avg_steps from steps_per_task").fetchall() == [(2, 1.0)]
        assert connection.execute("select verdict from cost_reconciliation").fetchall() == [("no_leaves",)] * 2
