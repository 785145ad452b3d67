"""What is asked about alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data

if TYPE_CHECKING:
    from dashboard.data import Answer

ALERTS_SHOWN = 30


def recent_alerts() -> Answer:
    """Return the newest alerts of all runs."""
    return data.fresh("recent_alerts", limit=ALERTS_SHOWN)


def run_alerts(run_id: str) -> Answer:
    """Return the alerts of a run."""
    return data.recent("run_alerts", run_id=run_id, limit=200)
