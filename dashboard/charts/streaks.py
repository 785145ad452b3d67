"""How long runs stood still."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import base
from dashboard.language import t

if TYPE_CHECKING:
    import pandas as pd


def lengths(frame: pd.DataFrame, cap: int) -> go.Figure:
    """Histogram of the longest flat streak of each run; the last bar holds everything from `cap` on."""
    top = max(int(frame["streak"].max()), 5)
    figure = go.Figure()
    for flagged in (False, True):
        part = frame[frame["flagged"] == flagged]
        words = base.verdict_words(flagged)
        figure.add_bar(
            x=list(part["streak"]),
            y=list(part["runs"]),
            marker=base.marker(theme.STEPS, flagged=flagged),
            name=words,
            hovertemplate=t("chart.streak_hover", runs="%{y}", streak="%{x}", verdict=words) + "<extra></extra>",
        )
    ticks = list(range(0, top + 1, 1 if top <= 10 else 2))
    labels = [f"{tick}+" if tick >= cap else str(tick) for tick in ticks]
    figure.update_xaxes(title=t("chart.streak"), tickvals=ticks, ticktext=labels, range=[-0.6, top + 0.6])
    most = int(frame.groupby("streak")["runs"].sum().max())
    figure.update_yaxes(title=t("chart.runs"), rangemode="tozero", **base.whole_ticks(most))
    return base.finish(figure, height=300, legend=True).update_xaxes(showgrid=False)
