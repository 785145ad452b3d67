"""What the page of thresholds asks: which there are, and what others would have flagged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data
from dashboard.viewer import timezone
from otel_processor.what_if.choosing import MOST_SPANS, Choice
from otel_processor.what_if.comparing import what_if

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from dashboard.data import Answer
    from dashboard.filters import Filters
    from otel_processor.policy import Policy
    from otel_processor.what_if.results import Outcome

POLICIES_SHOWN = 50
LONGEST_POLICY = 200_000
"""Characters of its fields; a longer one is not read."""


def policies(filters: Filters) -> Answer:
    """Return the policies that there are, each with how many of the chosen runs it judged; that used last first."""
    return data.recent("policies_used", **filters.parameters(timezone()), longest=LONGEST_POLICY, limit=POLICIES_SHOWN)


def choice_of(filters: Filters, runs: int) -> Choice:
    """Return which runs are judged again: the newest ones, of the one task and the one agent that are chosen."""
    return Choice(runs=runs, task=_only(filters.tasks), agent=_only(filters.agents), spans=MOST_SPANS)


def is_all_of(filters: Filters) -> bool:
    """Return whether `choice_of` obeys all of the filters."""
    named = {field for field in ("tasks", "agents") if _only(getattr(filters, field))}
    others = {field for field in ("tasks", "agents", "models", "services") if getattr(filters, field)} - named
    return not others and not filters.has_dates and filters.period == "all"


def judged(
    baseline: Policy,
    candidate: Policy,
    choice: Choice,
    *,
    on_progress: Callable[[int, int], None],
    cancel: Event,
    path: str | None = None,
) -> Outcome:
    """Judge stored runs under two policies; takes as long as it takes.

    Args:
        baseline: the policy in force.
        candidate: the policy to try.
        choice: which runs.
        on_progress: is told how many runs are done, of how many.
        cancel: once it is set, the outcome is that of the runs so far.
        path: of the database; by default that of the dashboard.

    Raises:
        StoreError: the database cannot be read.
    """
    return what_if(path or data.database_path(), baseline, candidate, choice, on_progress=on_progress, cancel=cancel)


def _only(names: tuple[str, ...]) -> str | None:
    return names[0] if len(names) == 1 and names[0] else None
