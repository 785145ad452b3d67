"""What runs of each task take: a box for each task, and shares as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import base
from dashboard.language import t
from dashboard.wording import count, dollars, percent, short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd

Measure: TypeAlias = Literal["tokens", "cost", "steps"]

WIDE = 20
"""A largest value this many times the median one asks for a logarithmic scale."""

_LEAST = {"tokens": 1.0, "steps": 1.0, "cost": 1e-4}
"""What stands for zero on a logarithmic scale."""

_COLORS = {"tokens": theme.TOKENS, "cost": theme.COST, "steps": theme.STEPS}


def spread(frame: pd.DataFrame, measure: Measure) -> go.Figure:
    """A box for each task: the middle half of its runs, their median, and whiskers to the smallest and the largest."""
    known = frame[frame[f"{measure}_median"].notna()]
    places = list(range(len(known)))
    color = _COLORS[measure]
    on_log_scale = _is_wide(known, measure)
    figure = go.Figure(
        go.Box(
            orientation="h",
            y=places,
            lowerfence=_drawn(known, f"{measure}_min", on_log_scale),
            q1=_drawn(known, f"{measure}_q1", on_log_scale),
            median=_drawn(known, f"{measure}_median", on_log_scale),
            q3=_drawn(known, f"{measure}_q3", on_log_scale),
            upperfence=_drawn(known, f"{measure}_max", on_log_scale),
            line={"color": color, "width": 1.5},
            width=0.55,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    # A task with few runs is hardly a box: the dot on its median can be seen and hovered all the same. The box itself is
    # not hovered, since the labels of its five numbers overlap.
    figure.add_scatter(
        x=_drawn(known, f"{measure}_median", on_log_scale),
        y=places,
        mode="markers",
        marker={"color": color, "size": 7},
        text=[_words(row, measure) for row in known.to_dict("records")],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    base.rows(figure, _labels(known))
    name = t(f"chart.{measure}")
    money = {"tickprefix": "$"} if measure == "cost" else {}
    if on_log_scale:
        title = t("chart.log_scale", measure=name)
        figure.update_xaxes(title=title, type="log", dtick=1, tickformat="~g" if money else "~s", **money)
    else:
        title = t("chart.per_run", measure=name)
        figure.update_xaxes(title=title, rangemode="tozero", tickformat="~g" if money else "~s", nticks=6, **money)
    figure.update_layout(hoverdistance=40)
    return base.finish(figure, height=base.height(len(known)))


def shares(frame: pd.DataFrame, column: str, axis: str) -> go.Figure:
    """A bar from 0 to 100 % for each task.

    Args:
        frame: rows of `task_shares`.
        column: the share: `repeated_share` or `flat_share`.
        axis: what it is a share of.
    """
    known = frame[frame[column].notna()]
    labels = _labels(known)
    figure = go.Figure(
        go.Bar(
            orientation="h",
            x=list(known[column]),
            y=list(range(len(known))),
            marker={"color": theme.WARNING if column == "flat_share" else theme.ONCE, "line": {"width": 0}},
            text=[percent(share, 1) for share in known[column]],
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"<b>{label}</b><br>{percent(share, 1)} {axis}" for label, share in zip(labels, known[column], strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
    )
    base.rows(figure, labels)
    figure.update_xaxes(title=axis, range=[0, max(float(known[column].max()) * 1.12, 0.05)], tickformat=".0%", nticks=6)
    return base.finish(figure, height=base.height(len(known)))


def _labels(frame: pd.DataFrame) -> list[str]:
    return [base.task_label(row["task"], int(row["tasks"]), is_rest=bool(row["is_rest"])) for row in frame.to_dict("records")]


def _is_wide(frame: pd.DataFrame, measure: Measure) -> bool:
    """Whether one task is so much bigger than the others that on a plain scale they would all be a line at zero."""
    return bool(frame[f"{measure}_max"].max() > WIDE * max(float(frame[f"{measure}_median"].median()), _LEAST[measure]))


def _drawn(frame: pd.DataFrame, column: str, on_log_scale: bool) -> list[float]:
    least = _LEAST[column.partition("_")[0]]
    return [max(value, least) if on_log_scale else value for value in frame[column].astype(float)]


def _words(row: Mapping[Hashable, Any], measure: Measure) -> str:
    written = dollars if measure == "cost" else count
    values = {name: written(row[f"{measure}_{name}"]) for name in ("min", "q1", "median", "q3", "max")}
    name = base.safe(short(text_of(row["task"], t("chart.other_tasks") if row["is_rest"] else t("wording.no_task")), 60))
    lines = (
        f"<b>{name}</b>",
        t("chart.spread", runs=count(row["runs"]), total=written(row[measure]), measure=t(f"chart.{measure}")),
        t("chart.spread_median", median=values["median"], q1=values["q1"], q3=values["q3"]),
        t("chart.spread_ends", least=values["min"], most=values["max"]),
    )
    return "<br>".join(lines)
