"""Take the README's pictures from real runs: `make screenshots`.

The demo's agents run, traced by their framework's own instrumentation, into a database in a temporary folder; every page is
opened in Chromium, the first one while they are at it.
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
from otel_processor.store.opening import open_read_only

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
ZONE = "Europe/Madrid"
PORT = 8597
DEMO_SECONDS = 60
UNDER_WAY_SECONDS = 20
"""So long agents have run when the first page is taken."""

SETTLE_MILLIS = 2_500
TALLEST = 1_500

LOOPING = "select run_id from runs where task = 'find-churn-report' order by started_at limit 1"

# name: (address, width, colours)
WHILE_THEY_RUN = {
    "now": ("", 1280, "light"),
    "now-dark": ("", 1280, "dark"),
    "now-phone": ("?lang=es", 400, "light"),
}
AFTERWARDS = {
    "overview": ("overview", 1280, "light"),
    "run": ("run?run={run}", 1280, "light"),
    "runs": ("runs", 1280, "light"),
    "tools": ("tools", 1280, "light"),
    "spend": ("spend", 1280, "light"),
    "policy": ("policy", 1280, "light"),
    "sql": ("sql", 1280, "light"),
    "health": ("health", 1280, "light"),
    "run-dark": ("run?run={run}", 1280, "dark"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        db = Path(folder) / "agents.duckdb"
        demo = [sys.executable, "-m", "otel_processor", "demo", "--headless", "--seconds", str(DEMO_SECONDS), "--db", str(db)]
        running = subprocess.Popen(demo, cwd=ROOT)
        variables = launch.environment(str(db), str(Path(dashboard.__file__).parent.parent))
        serving = subprocess.Popen(launch.command(PORT, "127.0.0.1"), env=os.environ | variables, stdout=subprocess.DEVNULL)
        try:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            time.sleep(UNDER_WAY_SECONDS)
            for name, (address, width, colours) in WHILE_THEY_RUN.items():
                take(browser, name, address, width, colours)
            running.wait()
            connection = open_read_only(db)
            (run,) = connection.execute(LOOPING).fetchone() or ("",)
            connection.close()
            for name, (address, width, colours) in AFTERWARDS.items():
                take(browser, name, address.format(run=run), width, colours)
            browser.close()
        finally:
            running.terminate()
            serving.terminate()
            running.wait()
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
