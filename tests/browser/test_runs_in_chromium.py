"""From the table of runs to the two calls that repeat each other, with a mouse and with the keyboard alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_processor.store.database import Database
from tests.browser.conftest import running_dashboard
from tests.dashboard import seed

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Dialog, Page

pytestmark = pytest.mark.browser

LOADING_MS = 30_000
CLOCK = "4" * 32


def seed_clock(db: Path) -> None:
    """A run that asks the same three times; the answer holds markup, and another hour each time."""
    with Database(db).write(timeout_seconds=10) as connection:
        calls = []
        for step in range(1, 4):
            result = f"Seen at 12:00:0{step}. </ins><script>alert(1)</script> \u202etxet"
            calls += [seed.model(step), seed.tool(step, "status", {"job": 7}, result, repeats=step, flat_steps=step - 1)]
        seed.add_run(connection, CLOCK, calls, task="watch the export")


def test_a_row_opens_its_run_and_the_difference_of_two_calls_is_marked(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    seed_clock(db)
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    with running_dashboard(db) as address:
        page.goto(f"{address}/runs?q=watch")
        page.get_by_text("Runs 1 to 1 of 1").wait_for(timeout=LOADING_MS)
        table = page.get_by_test_id("stDataFrame").first
        table.wait_for(timeout=LOADING_MS)
        box = table.bounding_box()
        assert box is not None
        page.wait_for_timeout(500)
        # A cell in the middle of the first row, below the names of the columns.
        page.mouse.click(box["x"] + box["width"] / 3, box["y"] + 35 + 17)
        page.get_by_role("heading", name="Timeline").wait_for(timeout=LOADING_MS)
        assert f"run={CLOCK}" in page.url

        page.get_by_text("Same arguments as step 2; the result differs only in: 12:00:02 → 12:00:03").wait_for(timeout=LOADING_MS)
        assert page.locator("del").all_inner_texts() == ["12:00:02"]
        assert page.locator("ins").all_inner_texts() == ["12:00:03"]
        assert page.get_by_text("<script>alert(1)</script>").first.is_visible()
        assert page.locator("ins ~ script").count() == 0
    assert dialogs == []


def test_the_steps_of_a_run_are_walked_with_the_keyboard(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed_clock(db)
    with running_dashboard(db) as address:
        page.goto(f"{address}/run?run={CLOCK}&step=3")
        page.get_by_text("12:00:02 → 12:00:03").wait_for(timeout=LOADING_MS)
        button = page.get_by_role("button", name="Previous step")
        button.focus()
        page.keyboard.press("Enter")
        page.get_by_text("12:00:01 → 12:00:02").wait_for(timeout=LOADING_MS)
        page.wait_for_url("**step=2**", timeout=LOADING_MS)


def test_the_calls_of_a_run_can_be_downloaded(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed_clock(db)
    with running_dashboard(db) as address:
        page.goto(f"{address}/run?run={CLOCK}")
        button = page.get_by_role("button", name="All calls as JSON")
        button.wait_for(timeout=LOADING_MS)
        with page.expect_download(timeout=LOADING_MS) as coming:
            button.click()
        assert '"calls_left_out": 0' in coming.value.path().read_text(encoding="utf-8")


def test_the_spans_of_a_step_are_shown_on_demand(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed_clock(db)
    with running_dashboard(db) as address:
        page.goto(f"{address}/run?run={CLOCK}")
        page.get_by_text("Spans of this step as received").click()
        page.get_by_text("The spans of this step are not there").wait_for(timeout=LOADING_MS)
