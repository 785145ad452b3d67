"""What the table of runs asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data
from dashboard.viewer import timezone

if TYPE_CHECKING:
    from dashboard.data import Answer
    from dashboard.filters import Filters


def recent_runs(filters: Filters, limit: int = 100) -> Answer:
    """Return the runs seen last."""
    return data.recent("recent_runs", **filters.parameters(timezone()), limit=limit)
