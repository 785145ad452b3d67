"""What the table of runs asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data
from dashboard.viewer import timezone

if TYPE_CHECKING:
    from dashboard.data import Answer
    from dashboard.filters import Filters
    from dashboard.run_search import RunSearch

ROWS_PER_PAGE = 50
ENDINGS_OFFERED = 40


def recent_runs(filters: Filters, limit: int = 100) -> Answer:
    """Return the runs seen last."""
    return data.recent("recent_runs", **filters.parameters(timezone()), limit=limit)


def found(filters: Filters, search: RunSearch) -> Answer:
    """Return one row that says how many runs there are."""
    return data.recent("runs_found", **filters.parameters(timezone()), **search.conditions())


def page(filters: Filters, search: RunSearch) -> Answer:
    """Return one page of runs."""
    order = search.order(ROWS_PER_PAGE)
    return data.recent("runs_page", **filters.parameters(timezone()), **search.conditions(), **order)


def endings(field: str) -> list[str]:
    """Return the commonest stop reasons (`reason`) or patterns of alerts (`pattern`)."""
    answer = data.recent("run_endings", limit=ENDINGS_OFFERED)
    if answer.frame.empty:
        return []
    return [str(name) for name in answer.frame.loc[answer.frame["field"] == field, "choice"]]
