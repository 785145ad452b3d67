"""What is said about messages on their way: in the log, not too often, and as metrics."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence

from otel_processor.alerts.metrics import alert_metrics
from otel_processor.alerts.notice import count
from otel_processor.alerts.sink import Outcome

_log = logging.getLogger("otel_processor.delivery")

_WARNING_SECONDS = 60.0


class Telling:
    """What one dispatcher says. Used by its thread only."""

    def __init__(self) -> None:
        self._warned: dict[str, float] = {}

    def tried(self, sink: str, outcome: Outcome) -> None:
        """Say what became of one try."""
        alert_metrics().tried(sink, "sent" if outcome.sent else "failed")
        if not outcome.sent:
            self.warn(sink, "a message to %s could not be delivered and is tried again: %s", sink, outcome.error)

    def given_up(self, messages: Sequence[tuple[str, str]]) -> None:
        """Say which messages are not tried again.

        Args:
            messages: the sink and the last error of each.
        """
        errors = dict(messages)
        for sink, number in Counter(sink for sink, _ in messages).items():
            for _ in range(number):
                alert_metrics().tried(sink, "gave_up")
            told = count(number, "message")
            _log.warning("%s to %s could not be delivered, given up: %s", told, sink, errors[sink])

    def warn(self, about: str, message: str, *values: object) -> None:
        """Log it, once a minute at most for each thing."""
        now = time.monotonic()
        if now - self._warned.get(about, -_WARNING_SECONDS) >= _WARNING_SECONDS:
            self._warned[about] = now
            _log.warning(message, *values)
