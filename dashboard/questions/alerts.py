"""What is asked about alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data
from dashboard.filters import Filters
from dashboard.viewer import timezone

if TYPE_CHECKING:
    from dashboard.data import Answer

OPEN_RUNS_SHOWN = 50
OVER_RUNS_SHOWN = 30
ALERTS_PER_RUN = 3

SEVERITIES = ("critical", "warning")


def recent_alerts(filters: Filters | None = None, severity: str | None = None) -> Answer:
    """Return the alerts of the runs that they were told of last, those with an open alert first.

    Args:
        filters: which runs; None: all.
        severity: only alerts of this one; None: all.
    """
    return data.fresh(
        "recent_alerts",
        **(filters or Filters()).parameters(timezone()),
        severity=severity,
        open_limit=OPEN_RUNS_SHOWN,
        over_limit=OVER_RUNS_SHOWN,
        per_run=ALERTS_PER_RUN,
    )


def alert_counts(filters: Filters) -> Answer:
    """Return one row: how many alerts there are, and how many are open."""
    return data.fresh("alert_counts", **filters.parameters(timezone()))


def run_alerts(run_id: str) -> Answer:
    """Return the alerts of a run."""
    return data.recent("run_alerts", run_id=run_id, limit=200)
