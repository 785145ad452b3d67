"""The dashboard's server beside the service: started again when it ends, and never in the service's way."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from otel_processor.cli import page

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

_log = logging.getLogger("otel_processor.service")

_LOOK_SECONDS = 0.5
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_HEALTHY_SECONDS = 60.0
"""One that lived for so long did not end for how it was started."""


def next_pause(before: float, lived_seconds: float) -> float:
    """Return for how long to wait before it is started again: twice as long each time, until it lives."""
    return _FIRST_PAUSE if lived_seconds >= _HEALTHY_SECONDS or not before else min(2 * before, _LONGEST_PAUSE)


class PageBeside:
    """One dashboard for as long as the service is there."""

    def __init__(self, db: Path, host: str, port: int) -> None:
        """Look whether it can be served; nothing is started before `start`.

        Raises:
            ConfigError: the extra is not installed, or nobody can listen there.
        """
        page.require_usable(host, port, option="--dashboard")
        self._db, self._host, self._port = db, host, port
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="otel-processor-dashboard", daemon=True)

    @property
    def address(self) -> str:
        """Where it is reached from this machine."""
        return page.address(self._host, self._port)

    def start(self) -> None:
        """Begin to serve it; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(page.STOP_SECONDS + 2)

    def _work(self) -> None:
        pause = 0.0
        while not self._ending.is_set():
            began_at = time.monotonic()
            why = self._serve()
            if self._ending.is_set():
                return
            pause = next_pause(pause, time.monotonic() - began_at)
            _log.warning("the dashboard %s; it is started again in %.0f s", why, pause)
            self._ending.wait(pause)

    def _serve(self) -> str:
        """Serve it until it ends, or is to; return how it ended."""
        try:
            process = page.start(self._db, self._host, self._port)
        except Exception as error:  # noqa: BLE001 - no memory, no processes: the service goes on, and it is tried again
            return f"could not be started: {error}"
        try:
            return f"ended with code {self._until_it_ends(process)}"
        finally:
            page.stop(process)

    def _until_it_ends(self, process: subprocess.Popen[bytes]) -> int | None:
        while process.poll() is None and not self._ending.wait(_LOOK_SECONDS):
            pass
        return process.returncode
