"""The real dashboard in a process of its own, and a real Chromium in front of it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dashboard
from dashboard import launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

HOST = "127.0.0.1"

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@contextmanager
def running_dashboard(db_path: Path, *, start_seconds: float = 60) -> Iterator[str]:
    """Serve the dashboard on a database for the length of a block; give its address."""
    port = free_port()
    variables = launch.environment(str(db_path), str(Path(dashboard.__file__).parent.parent))
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            launch.command(port, HOST), env=os.environ | variables, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://{HOST}:{port}"
            if not _answers(f"{address}/_stcore/health", process, start_seconds):
                output.seek(0)
                pytest.fail(f"the dashboard did not start: {output.read().decode(errors='replace')}")
            yield address
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """Return a port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(address: str, process: subprocess.Popen[bytes], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=2) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            # Nothing to wait on but the port itself.
            time.sleep(0.1)
    return False


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A headless Chromium of the system; skips where there is none."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("no Chromium on the path")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page of its own for one test, in a timezone that is not the server's."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, timezone_id="Asia/Tokyo")
    try:
        yield context.new_page()
    finally:
        context.close()
