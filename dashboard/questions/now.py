"""What the page of this moment asks, beside alerts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dashboard import data
from dashboard.questions import overview
from dashboard.viewer import timezone

if TYPE_CHECKING:
    from dashboard.data import Answer
    from dashboard.filters import Filters

RUNS_SHOWN = 50
RATE_MINUTES = 5
"""What a spend rate looks back on."""
SILENT_SECONDS = 600
"""An open run that nothing was seen of for so long is said to be silent."""
LAST_DAY = "24h"


def anything_ever() -> Answer:
    """Return one row that says whether there is any run, or an alert of one that has no row yet."""
    return data.fresh("anything_ever")


def open_runs(filters: Filters) -> Answer:
    """Return open runs, what looks worst first, each with what all of them add up to."""
    return data.fresh(
        "open_runs",
        **filters.parameters(timezone()),
        silent_seconds=SILENT_SECONDS,
        minutes=RATE_MINUTES,
        limit=RUNS_SHOWN,
    )


def last_seen(filters: Filters) -> Answer:
    """Return one row: when a chosen run was seen last."""
    return data.recent("last_seen", **filters.parameters(timezone()))


def last_day(filters: Filters) -> Filters:
    """Return the same choice over the last 24 hours."""
    return replace(filters, period=LAST_DAY, since=None, until=None)


def last_day_totals(filters: Filters) -> Answer:
    """Return one row of totals over the runs seen in the last 24 hours."""
    return overview.run_totals(last_day(filters))


def last_day_reasons(filters: Filters) -> Answer:
    """Return runs per stop reason over the last 24 hours."""
    return overview.stop_reasons(last_day(filters))
