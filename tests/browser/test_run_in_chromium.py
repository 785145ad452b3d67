"""What a person sees of one run: the link to it, its steps, and text that stays text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import running_dashboard
from tests.dashboard import seed

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Dialog, Page

pytestmark = pytest.mark.browser

LOADING_MS = 30_000


def test_a_shared_link_opened_first_shows_the_run_in_its_frame(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    with running_dashboard(db) as address:
        page.goto(f"{address}/run?run={seed.HEALTHY}")
        page.locator(".js-plotly-plot .bars path").first.wait_for(timeout=LOADING_MS)
        assert page.get_by_role("link", name="Overview", exact=True).is_visible()
        assert page.get_by_role("link", name="app", exact=True).count() == 0


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


def test_hostile_text_does_nothing_on_the_page_of_its_run(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    with running_dashboard(db) as address:
        page.goto(f"{address}/run?run={seed.HOSTILE}&step=1")
        page.get_by_role("heading", name="Calls").wait_for(timeout=LOADING_MS)
        page.locator(".js-plotly-plot .bars path").first.wait_for(timeout=LOADING_MS)
        assert page.get_by_text("<script>alert('run')</script>").first.is_visible()
        assert page.locator("a[href^='https://example.com']").count() == 0
        assert page.evaluate("document.body.innerHTML.includes(\"<script>alert('run')\")") is False
        # A result of a megabyte is shown as far as somebody can read it.
        page.goto(f"{address}/run?run={seed.HOSTILE}&step=2")
        page.get_by_text("these are the first 20,000 of 1,000,000 characters").wait_for(timeout=LOADING_MS)
        assert page.evaluate("document.body.innerText.length") < 100_000
    assert dialogs == []
