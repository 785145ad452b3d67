"""What the page of tools asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data
from dashboard.viewer import timezone

if TYPE_CHECKING:
    from dashboard.data import Answer
    from dashboard.filters import Filters

TOOLS_SHOWN = 200
REPEATS_SHOWN = 10
ERRORS_SHOWN = 10
SLOWEST_SHOWN = 10
CALLERS_SHOWN = 15


def figures(filters: Filters) -> Answer:
    """Return a row for each of the tools called most, and one for all others."""
    return data.recent("tool_figures", **filters.parameters(timezone()), top=TOOLS_SHOWN)


def over_time(filters: Filters, tool: str) -> Answer:
    """Return how the calls of a tool came out, in as many stretches of time as can be told apart.

    Args:
        filters: which runs.
        tool: its name as it stands in the store; empty for calls that name none. The same for all functions here.
    """
    return data.recent("tool_over_time", **filters.parameters(timezone()), tool=tool, zone=str(timezone()))


def repeats(filters: Filters, tool: str) -> Answer:
    """Return the calls of a tool that runs made more than once."""
    return data.recent("tool_repeats", **filters.parameters(timezone()), tool=tool, limit=REPEATS_SHOWN)


def errors(filters: Filters, tool: str) -> Answer:
    """Return how calls of a tool failed."""
    return data.recent("tool_errors", **filters.parameters(timezone()), tool=tool, limit=ERRORS_SHOWN)


def slowest(filters: Filters, tool: str) -> Answer:
    """Return the calls of a tool that took longest."""
    return data.recent("tool_slowest", **filters.parameters(timezone()), tool=tool, limit=SLOWEST_SHOWN)


def callers(filters: Filters, tool: str) -> Answer:
    """Return which tasks and agents call a tool."""
    return data.recent("tool_callers", **filters.parameters(timezone()), tool=tool, limit=CALLERS_SHOWN)
