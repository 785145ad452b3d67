"""Why runs ended: how often for each reason, and how that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import base, stretches
from dashboard.language import t
from dashboard.wording import count, short

if TYPE_CHECKING:
    import pandas as pd

REASONS_TOLD_APART = 8
"""Stop reasons with a colour of their own in a stack over time; the rarer ones are one colour together."""


def stop_reasons(frame: pd.DataFrame) -> go.Figure:
    """Bars of runs per stop reason, the part with a loop verdict hatched."""
    order = list(dict.fromkeys(frame["stop_reason"]))
    totals = frame.groupby("stop_reason")["runs"].sum()
    figure = go.Figure()
    for flagged in (False, True):
        part = frame[frame["flagged"] == flagged]
        reasons = list(part["stop_reason"])
        figure.add_bar(
            orientation="h",
            x=list(part["runs"]),
            y=[order.index(reason) for reason in reasons],
            marker=base.marker([theme.stop_reason_color(reason) for reason in reasons], flagged=flagged),
            customdata=[base.safe(reason) for reason in reasons],
            hovertemplate=f"%{{x}} {t('chart.runs')}: %{{customdata}}, {base.verdict_words(flagged)}<extra></extra>",
            showlegend=False,
        )
        base.legend_entry(figure, flagged=flagged, orientation="h")
    labels = [
        f"{base.safe(short(theme.stop_reason_label(reason), base.LONGEST_LABEL))}  <b>{count(int(totals[reason]))}</b>"
        for reason in order
    ]
    base.rows(figure, labels)
    figure.update_xaxes(title=t("chart.runs"), rangemode="tozero", **base.whole_ticks(int(totals.max())))
    return base.finish(figure, height=base.height(len(order)) + 30, legend=True)


def over_time(frame: pd.DataFrame) -> go.Figure:
    """A stack of runs per stop reason for each stretch of time, and a line: the share of them with a loop verdict."""
    width = stretches.width_ms(frame)
    common = list(frame.groupby("stop_reason")["runs"].sum().sort_values(ascending=False).index[:REASONS_TOLD_APART])
    figure = go.Figure()
    for reason in common:
        _stack(
            figure, frame[frame["stop_reason"] == reason], theme.stop_reason_label(reason), theme.stop_reason_color(reason), width
        )
    others = frame[~frame["stop_reason"].isin(common)]
    if len(others):
        summed = others.groupby("stretch")[["runs"]].sum().reset_index()
        _stack(figure, summed, t("chart.other_reasons"), theme.NEUTRAL, width)
    together = frame.groupby("stretch")[["runs", "flagged"]].sum()
    figure.add_scatter(
        x=list(together.index),
        y=list(together["flagged"] / together["runs"]),
        yaxis="y2",
        mode="lines+markers",
        line={"color": theme.CRITICAL, "width": 1.5, "dash": "dot"},
        marker={"size": 6 if len(together) > 1 else 12},
        name=t("chart.verdict_share"),
        hovertemplate=f"%{{y:.0%}} {t('chart.verdict')}<extra></extra>",
    )
    figure.update_yaxes(title=t("chart.runs"), rangemode="tozero", **base.whole_ticks(int(together["runs"].max())))
    stretches.axis(figure, frame)
    # Its entries take several lines: below the chart, where they do not lie on it.
    base.finish(figure, height=360, legend=True).update_layout(
        legend={"y": -0.18, "yanchor": "top"},
        margin={"t": 8},
        yaxis2={
            "overlaying": "y", "side": "right", "range": [0, 1.02], "tickvals": [0, 0.5, 1], "tickformat": ".0%",
            "showgrid": False, "fixedrange": True,
        },
    )  # fmt: skip
    return figure.update_xaxes(showgrid=False)


def _stack(figure: go.Figure, frame: pd.DataFrame, name: str, color: str, width_ms: float) -> None:
    label = base.safe(short(name, base.LONGEST_LABEL))
    figure.add_bar(
        x=list(frame["stretch"]),
        y=list(frame["runs"]),
        width=width_ms,
        marker={"color": color, "line": {"width": 0}},
        name=label,
        hovertemplate=f"%{{x}}: %{{y}} {t('chart.runs')}, {label}<extra></extra>",
    )
