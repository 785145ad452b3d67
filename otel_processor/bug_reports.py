"""What is said of our own bugs: the host goes on, and the log says so, not too often."""

from __future__ import annotations

import logging
import time

_log = logging.getLogger("otel_processor")
_SECONDS_BETWEEN_REPORTS = 60.0
_reported: dict[str, float] = {}


def report_bug(place: str) -> None:
    """Log the exception that is being handled, with its traceback, once a minute at most for each place."""
    now = time.monotonic()
    if now - _reported.get(place, -_SECONDS_BETWEEN_REPORTS) >= _SECONDS_BETWEEN_REPORTS:
        _reported[place] = now
        _log.exception("otel_processor failed in %s; the agent goes on", place)
