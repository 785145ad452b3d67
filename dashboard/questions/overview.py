"""What the overview asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data
from dashboard.viewer import timezone

if TYPE_CHECKING:
    from dashboard.data import Answer
    from dashboard.filters import Filters

LONGEST_STREAK_SHOWN = 20
TASKS_SHOWN = 15
STREAKS_SHOWN = 8
REASONS_SHOWN = 30
HEALTHY_RUNS_NEEDED = 5
"""Earlier runs that a task must have before its runs are compared with them."""


def runs_ever() -> Answer:
    """Return one row that says whether there is any run."""
    return data.fresh("runs_ever")


def run_totals(filters: Filters) -> Answer:
    """Return one row of totals over the chosen runs."""
    return data.recent("run_totals", **filters.parameters(timezone()))


def stop_reasons(filters: Filters) -> Answer:
    """Return runs per stop reason, flagged ones apart."""
    return data.recent("stop_reasons", **filters.parameters(timezone()), limit=REASONS_SHOWN)


def stop_reasons_over_time(filters: Filters) -> Answer:
    """Return runs per stop reason and stretch of time, in as many stretches as can be told apart."""
    return data.recent("stop_reasons_over_time", **filters.parameters(timezone()), zone=_zone_name())


def streak_lengths(filters: Filters) -> Answer:
    """Return runs per length of their longest flat streak."""
    return data.recent("streak_lengths", **filters.parameters(timezone()), cap=LONGEST_STREAK_SHOWN)


def longest_streaks(filters: Filters) -> Answer:
    """Return the longest flat streaks."""
    return data.recent("longest_streaks", **filters.parameters(timezone()), limit=STREAKS_SHOWN)


def task_spread(filters: Filters) -> Answer:
    """Return quartiles of tokens, cost and steps per task."""
    return data.recent("task_spread", **filters.parameters(timezone()), top=TASKS_SHOWN)


def task_shares(filters: Filters) -> Answer:
    """Return the shares of repeated calls and of flat steps per task."""
    return data.recent("task_shares", **filters.parameters(timezone()), top=TASKS_SHOWN)


def task_history(filters: Filters) -> Answer:
    """Return what runs of each task take now beside what its healthy runs took before."""
    return data.recent("task_change", **filters.parameters(timezone()), least=HEALTHY_RUNS_NEEDED, limit=TASKS_SHOWN)


def _zone_name() -> str:
    """Return the viewer's timezone by a name that the database engine knows too."""
    return str(timezone())
