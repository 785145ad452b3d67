"""The overview in a browser: it fills by itself, and text of others stays text."""

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


def test_a_page_without_a_database_fills_when_a_run_comes(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    with running_dashboard(db) as address:
        page.goto(f"{address}/overview")
        page.get_by_text("No database yet").wait_for(timeout=LOADING_MS)
        seed.seed_healthy(db)
        page.get_by_role("heading", name="Why runs ended").wait_for(timeout=LOADING_MS)


def test_hostile_text_does_nothing_on_the_overview(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    with running_dashboard(db) as address:
        page.goto(f"{address}/overview")
        page.locator(".js-plotly-plot").nth(4).wait_for(timeout=LOADING_MS)
        assert page.locator("a[href^='https://example.com']").count() == 0
        assert page.evaluate("document.body.innerHTML.includes(\"<script>alert('run')\")") is False
    assert dialogs == []
