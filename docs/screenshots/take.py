"""Take the README's pictures from real runs: `make screenshots`.

The demo's agents run first, traced by their framework's own instrumentation, into a database in a temporary folder; then every
page is opened in Chromium. One agent is still looping while the first page is taken.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

import dashboard
from dashboard import launch
from otel_processor.demo.tour import Tour
from otel_processor.store.opening import open_read_only

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
ZONE = "Europe/Madrid"
PORT = 8597
DEMO_SECONDS = 40.0
SETTLE_MILLIS = 2_500
TALLEST = 1_500

LOOPING = "select run_id from runs where task = 'find-churn-report' order by started_at limit 1"

PICTURES = {
    # name: (address, width, colours)
    "now": ("now", 1280, "light"),
    "overview": ("overview", 1280, "light"),
    "run": ("run?run={run}", 1280, "light"),
    "runs": ("runs", 1280, "light"),
    "tools": ("tools", 1280, "light"),
    "spend": ("spend", 1280, "light"),
    "policy": ("policy", 1280, "light"),
    "sql": ("sql", 1280, "light"),
    "health": ("health", 1280, "light"),
    "now-dark": ("now", 1280, "dark"),
    "run-dark": ("run?run={run}", 1280, "dark"),
    "now-phone": ("now?lang=es", 400, "light"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "agents.duckdb"
        Tour(db, say=print).play(DEMO_SECONDS)
        connection = open_read_only(db)
        (run,) = connection.execute(LOOPING).fetchone() or ("",)
        connection.close()
        looping = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.looping_agent", str(db)], cwd=ROOT, stdout=subprocess.DEVNULL
        )
        variables = launch.environment(str(db), str(Path(dashboard.__file__).parent.parent))
        serving = subprocess.Popen(launch.command(PORT, "127.0.0.1"), env=os.environ | variables, stdout=subprocess.DEVNULL)
        try:
            time.sleep(5)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
                for name, (address, width, colours) in PICTURES.items():
                    take(browser, name, address.format(run=run), width, colours)
                browser.close()
        finally:
            looping.terminate()
            serving.terminate()
            looping.wait()
            serving.wait()


def take(browser: Browser, name: str, address: str, width: int, colours: str) -> None:
    """Take one page, as tall as it is."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if colours == "dark" else "light", timezone_id=ZONE
    )
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{PORT}/{address}")
    page.get_by_role("heading", level=1).wait_for(timeout=60_000)
    page.wait_for_timeout(SETTLE_MILLIS)
    height = int(page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight"))
    page.set_viewport_size({"width": width, "height": min(height + 60, TALLEST)})
    page.wait_for_timeout(SETTLE_MILLIS)
    page.screenshot(path=FOLDER / f"{name}.png")
    context.close()


if __name__ == "__main__":
    main()
