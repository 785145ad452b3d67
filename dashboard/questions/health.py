"""What the page on the state of the system asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data

if TYPE_CHECKING:
    from dashboard.data import Answer

WRITERS_SHOWN = 50
SINKS_SHOWN = 50
DELIVERIES_SHOWN = 20
RECENT_SECONDS = 120
"""A writer that wrote within so long is said to be at work; one that has nothing to write does not write."""


def schema_version() -> Answer:
    """Return one row: the schema that the database has, and whether it is a sealed copy."""
    return data.recent("schema_version")


def seal() -> Answer:
    """Return one row: what a sealed copy says of itself; only such a copy can be asked."""
    return data.recent("seal")


def writers() -> Answer:
    """Return who writes, with counters, the one that wrote last first."""
    return data.recent("writers", recent_seconds=RECENT_SECONDS, limit=WRITERS_SHOWN)


def table_rows() -> Answer:
    """Return the number of rows of each table."""
    return data.recent("table_rows")


def open_run_signs() -> Answer:
    """Return one row: how many runs are open, and when anything was last heard."""
    return data.recent("open_run_signs")


def delivery_summary() -> Answer:
    """Return how messages about alerts stand at each sink, most trouble first."""
    return data.recent("delivery_summary", limit=SINKS_SHOWN)


def deliveries() -> Answer:
    """Return the newest messages about alerts."""
    return data.recent("deliveries", limit=DELIVERIES_SHOWN)
