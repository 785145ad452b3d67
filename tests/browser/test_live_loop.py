"""The whole line: an agent loops in another process, and a person who has the page open sees it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import running_dashboard
from tests.dashboard import seed

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

LOADING_MS = 30_000
ALERT_WITHIN_SECONDS = 3.0


def test_a_shared_link_opened_first_shows_the_run_in_its_frame(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    seed.seed_all(db)
    with running_dashboard(db) as address:
        page.goto(f"{address}/run?run={seed.HEALTHY}")
        page.get_by_role("heading", name="Timeline").wait_for(timeout=LOADING_MS)
        assert page.get_by_role("link", name="Overview", exact=True).is_visible()
        assert page.get_by_role("link", name="app", exact=True).count() == 0


def test_an_alert_is_on_the_page_within_three_seconds_of_its_span(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "agents.duckdb"
    with running_dashboard(db) as address:
        page.goto(address)
        page.get_by_text("otel-processor demo").first.wait_for(timeout=LOADING_MS)
        agent = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.looping_agent", str(db)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert agent.stdout is not None
            looped_at = float(agent.stdout.readline())
            page.get_by_text("web_search was called 3 times with the same arguments").first.wait_for(timeout=LOADING_MS)
            assert time.time() - looped_at <= ALERT_WITHIN_SECONDS

            page.get_by_role("link", name="Open run").first.click()
            page.get_by_role("heading", name="Timeline").wait_for(timeout=LOADING_MS)
            page.locator(".js-plotly-plot .bars path").first.wait_for(timeout=LOADING_MS)
            assert page.get_by_text("finder").first.is_visible()
        finally:
            agent.kill()
            agent.wait()
