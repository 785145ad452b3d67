"""What a person sees who keeps the first page open: an alert that comes by itself, the way to its run, in either language."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from otel_processor.store.database import Database
from tests.browser.conftest import running_dashboard
from tests.dashboard import seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Dialog, Page

pytestmark = pytest.mark.browser

LOADING_MS = 30_000
ALERT_WITHIN_SECONDS = 3.0
LOOPS = "web_search was called 3 times with the same arguments"


@contextmanager
def looping_agent(db: Path) -> Iterator[float]:
    """Let an agent loop in a process of its own; give the time at which the third equal call ended."""
    agent = subprocess.Popen(
        [sys.executable, "-m", "tests.browser.looping_agent", str(db)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert agent.stdout is not None
        yield float(agent.stdout.readline())
    finally:
        agent.kill()
        agent.wait()
        if agent.stdout is not None:
            agent.stdout.close()


def tell_alert(db: Path, message: str) -> None:
    """Write one alert as an agent would: a short transaction, and the file is free again."""
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_alert(connection, seed.HEALTHY, 1, message=message)


def is_wider_than_the_screen(page: Page) -> bool:
    """Whether somebody would have to scroll sideways to read the page."""
    return bool(
        page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".some(element => element.scrollWidth > element.clientWidth)"
        )
    )


def test_an_alert_is_on_the_page_within_three_seconds_of_its_span(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_healthy(db)
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_text("No open alerts: nobody goes in circles.").wait_for(timeout=LOADING_MS)
        with looping_agent(db) as looped_at:
            page.get_by_text(LOOPS).first.wait_for(timeout=LOADING_MS)
            assert time.time() - looped_at <= ALERT_WITHIN_SECONDS
            assert page.get_by_text("critical", exact=True).first.is_visible()
            assert page.get_by_text("Looping now: 1 run").is_visible()

            page.get_by_role("link", name="Open run").first.click()
            page.wait_for_url("**/run?**run=**", timeout=LOADING_MS)
            page.get_by_role("heading", name="Run", exact=True).wait_for(timeout=LOADING_MS)
            page.get_by_text("finder").first.wait_for(timeout=LOADING_MS)


def test_an_empty_page_fills_by_itself_with_the_first_alert(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_text("No database yet").wait_for(timeout=LOADING_MS)
        with looping_agent(db):
            page.get_by_text(LOOPS).first.wait_for(timeout=LOADING_MS)


def test_an_alert_of_a_known_run_leads_to_it(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_healthy(db)
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_text("No open alerts: nobody goes in circles.").wait_for(timeout=LOADING_MS)
        tell_alert(db, "search goes in circles")
        page.get_by_text("search goes in circles").wait_for(timeout=ALERT_WITHIN_SECONDS * 1000)
        page.get_by_role("link", name="Open run").first.click()
        page.wait_for_url(f"**/run?**run={seed.HEALTHY}**", timeout=LOADING_MS)
        page.get_by_text("search goes in circles").first.wait_for(timeout=LOADING_MS)


def test_a_refresh_moves_nothing_and_keeps_what_was_chosen(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_text("search was called 3 times").first.wait_for(timeout=LOADING_MS)
        page.get_by_test_id("stDataFrame").wait_for(timeout=LOADING_MS)
        page.get_by_role("radio", name="warning").or_(page.get_by_role("button", name="warning")).first.click()
        page.get_by_text("No open alert with these filters.").wait_for(timeout=LOADING_MS)
        page.get_by_role("link", name="Open run").nth(1).wait_for(state="detached", timeout=LOADING_MS)
        heading = page.get_by_role("heading", name="Open runs")
        before = heading.bounding_box()
        handle = page.get_by_role("heading", name="Alerts", exact=True).element_handle()
        tell_alert(db, "told in the meantime")
        # The count above changes with the refresh, the list does not: what was told is critical.
        page.get_by_text("3 critical").wait_for(timeout=LOADING_MS)
        assert heading.bounding_box() == before
        assert page.get_by_text("told in the meantime").count() == 0
        assert handle is not None
        assert handle.is_visible()
        assert "severity=warning" in page.url


def test_the_language_is_switched_and_switched_back(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_role("heading", name="Now", exact=True).wait_for(timeout=LOADING_MS)
        page.get_by_text("ES", exact=True).click()
        page.get_by_role("heading", name="Ahora", exact=True).wait_for(timeout=LOADING_MS)
        page.get_by_text("Dando vueltas ahora: 2 ejecuciones").wait_for(timeout=LOADING_MS)
        assert "lang=es" in page.url
        page.get_by_role("link", name="Estado", exact=True).click()
        page.get_by_role("heading", name="Estado", exact=True).wait_for(timeout=LOADING_MS)
        page.get_by_text("EN", exact=True).click()
        page.get_by_role("heading", name="Health", exact=True).wait_for(timeout=LOADING_MS)
        page.get_by_role("link", name="Now", exact=True).click()
        page.get_by_text("Looping now: 2 runs").wait_for(timeout=LOADING_MS)


def test_nothing_is_wider_than_a_phone(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    page.set_viewport_size({"width": 400, "height": 850})
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_test_id("stDataFrame").first.wait_for(timeout=LOADING_MS)
        assert not is_wider_than_the_screen(page)
        page.goto(f"{address}/overview")
        page.locator(".js-plotly-plot").first.wait_for(timeout=LOADING_MS)
        assert not is_wider_than_the_screen(page)
        page.goto(f"{address}/health")
        page.get_by_test_id("stDataFrame").first.wait_for(timeout=LOADING_MS)
        assert not is_wider_than_the_screen(page)


def test_hostile_text_does_nothing_on_the_first_page(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    with running_dashboard(db) as address:
        page.goto(address)
        told = page.get_by_text("<script>alert('run')</script> **bold**").first
        told.wait_for(timeout=LOADING_MS)
        # As it was written, marks and all, and what would act is named instead.
        assert "[link](https://example.com)" in told.inner_text()
        assert "[U+202E]" in told.inner_text()
        assert page.locator("a[href^='https://example.com']").count() == 0
        assert page.evaluate("document.body.innerHTML.includes(\"<script>alert('run')\")") is False
    assert dialogs == []
