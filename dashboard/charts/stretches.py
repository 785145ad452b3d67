"""Bars over time: as wide as the minute, hour, day or week that they stand for, with a stretch of room on both sides."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

BAR_SHARE = 0.85

_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}


def width_ms(frame: pd.DataFrame) -> float:
    """Return how wide a bar is, in milliseconds as Plotly counts on a time axis.

    Args:
        frame: rows with the columns `unit`, the same in all of them, and `stretch`.
    """
    return _unit(frame).total_seconds() * 1000 * BAR_SHARE


def axis(figure: go.Figure, frame: pd.DataFrame) -> None:
    """Give a figure a time axis around the stretches: around few of them Plotly's own would show their milliseconds."""
    around = _unit(frame)
    figure.update_xaxes(type="date", range=[frame["stretch"].min() - around, frame["stretch"].max() + around], nticks=8)


def _unit(frame: pd.DataFrame) -> timedelta:
    return _UNITS[str(frame["unit"].iloc[0])]
