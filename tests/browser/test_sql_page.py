"""The page of SQL in a browser: what it refuses, how a query is ended, and that it works on afterwards."""

from __future__ import annotations

import re
import urllib.parse
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from otel_processor.store.database import Database
from tests.browser.conftest import running_dashboard
from tests.dashboard import seed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Dialog, Locator, Page

pytestmark = pytest.mark.browser

LOADING_MS = 30_000
ENDLESS = "select count(*) from range(10000000) a, range(10000000) b where (a.range * b.range) % 7 = 3"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "agents.duckdb"
    seed.seed_all(path)
    return path


@pytest.fixture
def address(db: Path) -> Iterator[str]:
    with running_dashboard(db) as running:
        yield f"{running}/sql"


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Query")


def run_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Run")


def ask(page: Page, query: str) -> None:
    """Write a query and run it with the keyboard."""
    editor(page).fill(query)
    # The editor counts: it has taken the text in. A person's fingers are slower than that anyway.
    page.get_by_text(f"{len(query)}/20000").wait_for(timeout=LOADING_MS)
    editor(page).press("Control+Enter")


def test_it_refuses_a_write_and_a_file_and_runs_what_is_asked_with_the_keyboard(db: Path, address: str, page: Page) -> None:
    page.goto(address)
    editor(page).wait_for(timeout=LOADING_MS)
    before = db.read_bytes()
    for forbidden in ("drop table spans", "select * from read_text('/etc/passwd')", "copy spans to 'stolen.csv'"):
        ask(page, "select 1 as one")
        page.get_by_text("1 row. Took").wait_for(timeout=LOADING_MS)
        ask(page, forbidden)
        page.get_by_text("SQL is read-only here").wait_for(timeout=LOADING_MS)
        assert page.get_by_text("root:").count() == 0
    assert db.read_bytes() == before
    ask(page, "select task\nfrm runs")
    page.get_by_text("LINE 2: frm runs").wait_for(timeout=LOADING_MS)
    assert page.get_by_text("Traceback").count() == 0


def test_a_long_query_is_ended_by_the_button_and_by_its_limit_and_the_page_works_on(db: Path, address: str, page: Page) -> None:
    page.goto(address)
    editor(page).wait_for(timeout=LOADING_MS)
    cancel = page.get_by_role("button", name="Cancel")
    ask(page, ENDLESS)
    # It counts the seconds by itself.
    page.get_by_text(re.compile(r"Running for [2-9] s, stopped after 10 s at the latest")).wait_for(timeout=LOADING_MS)
    assert run_button(page).is_disabled()
    cancel.click()
    page.get_by_text("Cancelled after").wait_for(timeout=LOADING_MS)
    with Database(db).write(timeout_seconds=5):
        pass

    seconds = page.get_by_role("spinbutton", name="Seconds at most")
    seconds.fill("1")
    seconds.press("Enter")
    run_button(page).click()
    page.get_by_text("The query was stopped: it took longer than 1 s.").wait_for(timeout=LOADING_MS)

    ask(page, "select count(*) as runs from runs")
    page.get_by_text("1 row. Took").wait_for(timeout=LOADING_MS)
    with page.expect_download(timeout=LOADING_MS) as downloading:
        page.get_by_role("button", name="CSV", exact=True).click()
    assert downloading.value.suggested_filename == "query.csv"
    assert downloading.value.path().read_text().splitlines() == ["runs", "7"]
    with page.expect_download(timeout=LOADING_MS) as downloading:
        page.get_by_role("button", name="Parquet", exact=True).click()
    assert downloading.value.path().read_bytes().startswith(b"PAR1")


def test_leaving_the_page_ends_the_query(db: Path, address: str, page: Page) -> None:
    page.goto(address)
    editor(page).wait_for(timeout=LOADING_MS)
    seconds = page.get_by_role("spinbutton", name="Seconds at most")
    seconds.fill("60")
    seconds.press("Enter")
    ask(page, ENDLESS)
    page.get_by_text(re.compile(r"Running for \d+ s, stopped after 60 s at the latest")).wait_for(timeout=LOADING_MS)
    page.close()
    # Who writes gets the file long before the query's own limit.
    with Database(db).write(timeout_seconds=30):
        pass


def test_a_link_brings_a_query_and_does_not_run_it(address: str, page: Page) -> None:
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    query = "select task, agent as \"<img src=x onerror=alert('name')>\", steps from runs order by steps"
    page.goto(f"{address}?q={urllib.parse.quote(query)}")
    page.get_by_text("This query came with the link and was not run.").wait_for(timeout=LOADING_MS)
    expect(editor(page)).to_have_value(query, timeout=LOADING_MS)
    assert page.get_by_role("heading", name="Result").count() == 0
    run_button(page).click()
    page.get_by_text("7 rows. Took").wait_for(timeout=LOADING_MS)
    page.locator(".js-plotly-plot .bars path").first.wait_for(timeout=LOADING_MS)
    assert page.get_by_text("This query came with the link").count() == 0
    assert page.locator("a[href*='example.com']").count() == 0
    assert page.locator("img[src='x']").count() == 0
    assert dialogs == []


def test_a_click_on_a_column_puts_its_name_into_the_query(address: str, page: Page) -> None:
    page.goto(address)
    editor(page).wait_for(timeout=LOADING_MS)
    editor(page).fill("select")
    page.get_by_text("runs", exact=True).click()
    grid = page.get_by_test_id("stDataFrame").first
    grid.wait_for(timeout=LOADING_MS)
    box = grid.bounding_box()
    assert box is not None
    # The cells are drawn on a canvas: below the head, 30 pixels a row.
    for row in (0, 1):
        page.mouse.click(box["x"] + 40, box["y"] + 30 * (row + 1.5))
        expected = ("select run_id", "select run_id, task")[row]
        page.wait_for_function(
            "expected => document.querySelector('.st-key-sql_editor textarea').value === expected",
            arg=expected,
            timeout=LOADING_MS,
        )
