"""The plainest place to be told: a line in the log of the agent's own process."""

from __future__ import annotations

import logging

from otel_processor.alerts.inert import inert
from otel_processor.model import Alert

LOGGER = "otel_processor.alerts"
"""Where alerts are logged, as warnings; `logging.getLogger("otel_processor.alerts")` sets level and handlers."""

_log = logging.getLogger(LOGGER)
_LONGEST_CHARS = 500


def log_alert(alert: Alert) -> None:
    """Log an alert; what the agent's tools put into it cannot move the cursor of a terminal."""
    verdict = alert.verdict
    whose = f"{alert.task} (run {alert.run_id})" if alert.task else f"run {alert.run_id}"
    _log.warning("%s", inert(f"{verdict.pattern} in {whose}: {verdict.message}", _LONGEST_CHARS))
