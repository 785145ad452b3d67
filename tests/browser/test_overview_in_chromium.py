"""What a person sees in a browser: an alert that comes by itself, and the way from it to the run."""

from __future__ import annotations

import time
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
ALERT_WITHIN_SECONDS = 3.0


def test_an_alert_appears_by_itself_and_leads_to_its_run(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_healthy(db)
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_text("No alerts: no run has been seen going in circles.").wait_for(timeout=LOADING_MS)
        page.get_by_role("heading", name="Recent runs").wait_for(timeout=LOADING_MS)

        tell_alert(db, "search goes in circles")
        told = time.monotonic()
        page.get_by_text("search goes in circles").wait_for(timeout=ALERT_WITHIN_SECONDS * 1000)
        assert time.monotonic() - told <= ALERT_WITHIN_SECONDS

        page.get_by_role("link", name="Open run").first.click()
        page.get_by_role("heading", name="Timeline").wait_for(timeout=LOADING_MS)
        page.locator(".js-plotly-plot .bars path").first.wait_for(timeout=LOADING_MS)
        assert f"run={seed.HEALTHY}" in page.url
        assert page.get_by_text("search goes in circles").is_visible()


def test_a_click_on_a_bar_opens_its_step(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    with running_dashboard(db) as address:
        page.goto(f"{address}/run?run={seed.HEALTHY}")
        bars = page.locator(".js-plotly-plot .bars path")
        bars.first.wait_for(timeout=LOADING_MS)
        page.get_by_role("heading", name="Calls").wait_for(timeout=LOADING_MS)
        bars.nth(1).scroll_into_view_if_needed()
        box = bars.nth(1).bounding_box()
        assert box is not None
        # Plotly lays a transparent plane over its bars; a person clicks through it without knowing.
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
        page.locator(".js-plotly-plot .hoverlayer .hovertext").wait_for(timeout=LOADING_MS)
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.get_by_text('"q": "cats"').first.wait_for(timeout=LOADING_MS)
        page.wait_for_url("**step=1**", timeout=LOADING_MS)


def test_hostile_text_does_nothing_in_a_browser(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_role("heading", name="Recent runs").wait_for(timeout=LOADING_MS)
        page.goto(f"{address}/run?run={seed.HOSTILE}&step=1")
        page.get_by_role("heading", name="Calls").wait_for(timeout=LOADING_MS)
        page.locator(".js-plotly-plot .bars path").first.wait_for(timeout=LOADING_MS)
        assert page.get_by_text("<script>alert('run')</script>").first.is_visible()
        assert page.locator("a[href*='example.com']").count() == 0
        assert page.evaluate("document.body.innerHTML.includes(\"<script>alert('run')\")") is False
    assert dialogs == []


def test_a_page_without_a_database_fills_when_a_run_comes(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_text("No database yet").wait_for(timeout=LOADING_MS)
        seed.seed_healthy(db)
        page.get_by_role("heading", name="Recent runs").wait_for(timeout=LOADING_MS)


def tell_alert(db: Path, message: str) -> None:
    """Write one alert as an agent would: a short transaction, and the file is free again."""
    with Database(db).write(timeout_seconds=10) as connection:
        seed.add_alert(connection, seed.HEALTHY, 1, message=message)
