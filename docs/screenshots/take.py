"""Take the README's picture from the running demo.

otel-processor demo --db out/demo.duckdb --port 8501     (in another terminal; give it half a minute)
python docs/screenshots/take.py http://127.0.0.1:8501
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def main(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1060}, color_scheme="light")
        page.goto(address)
        page.get_by_text("Why runs ended").wait_for()
        page.locator(".js-plotly-plot").first.wait_for()
        page.screenshot(path=Path(__file__).with_name("overview.png"))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
