"""Where a run stood still: its flat streaks, found in the calls that a page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.wording import text_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Band:
    """Steps in a row that brought an agent nothing new."""

    agent: str
    first_step: int
    last_step: int
    streak: int


def bands(calls: pd.DataFrame) -> list[Band]:
    """Find the flat streaks of two steps and more: per agent, as the counter in `flat_steps` tells them."""
    found: list[Band] = []
    tools = tool_calls(calls)
    for agent, rows in tools.groupby(agents(tools), sort=False):
        open_band: Band | None = None
        for step, streak in zip(rows["step"], rows["flat_steps"], strict=True):
            if open_band and streak >= open_band.streak and streak > 0:
                open_band = Band(str(agent), open_band.first_step, int(step), int(streak))
                continue
            if open_band:
                found.append(open_band)
            open_band = Band(str(agent), int(step), int(step), int(streak)) if streak > 0 else None
        if open_band:
            found.append(open_band)
    return [band for band in found if band.streak > 1]


def tool_calls(calls: pd.DataFrame) -> pd.DataFrame:
    """Return the tool calls among calls."""
    return calls[calls["kind"] == "tool"]


def agents(calls: pd.DataFrame) -> pd.Series[str]:
    """Return whose call each is; an empty text where no agent is named."""
    return calls["agent"].map(lambda agent: text_of(agent, "")).astype(object)
