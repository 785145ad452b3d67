"""Frames in, Plotly figures out: nothing is read, nothing is shown."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Literal

import plotly.graph_objects as go

from dashboard import theme
from dashboard.wording import count, short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd

FLAGGED_HATCH = "/"
ROW_HEIGHT = 30
WIDE = 20
CLEAR = "rgba(0,0,0,0)"
GRID = "rgba(133,133,128,0.25)"

CONFIG = {"displayModeBar": False, "scrollZoom": False}
"""How the charts behave on a page: they can be read and hovered, and do not catch the scroll wheel."""


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
            marker=_marker([theme.stop_reason_color(reason) for reason in reasons], flagged=flagged),
            customdata=[safe(reason) for reason in reasons],
            hovertemplate="%{x} runs: %{customdata}, " + _flag_words(flagged) + "<extra></extra>",
            showlegend=False,
        )
        _legend_entry(figure, flagged=flagged, orientation="h")
    labels = [f"{safe(short(theme.stop_reason_label(reason), 24))}  <b>{count(int(totals[reason]))}</b>" for reason in order]
    _rows(figure, labels)
    figure.update_xaxes(title="runs", rangemode="tozero", **_whole_ticks(int(totals.max())))
    return _finish(figure, height=_height(len(order)) + 30, legend=True)


def streak_lengths(frame: pd.DataFrame, cap: int) -> go.Figure:
    """Histogram of the longest flat streak of each run; the last bar holds everything from `cap` on."""
    top = max(int(frame["streak"].max()), 5)
    figure = go.Figure()
    for flagged in (False, True):
        part = frame[frame["flagged"] == flagged]
        figure.add_bar(
            x=list(part["streak"]),
            y=list(part["runs"]),
            marker=_marker(theme.STEPS, flagged=flagged),
            name=_flag_words(flagged),
            hovertemplate="%{y} runs, longest streak %{x}, " + _flag_words(flagged) + "<extra></extra>",
        )
    ticks = list(range(0, top + 1, 1 if top <= 10 else 2))
    labels = [f"{tick}+" if tick >= cap else str(tick) for tick in ticks]
    figure.update_xaxes(title="longest streak of flat steps", tickvals=ticks, ticktext=labels, range=[-0.6, top + 0.6])
    most = int(frame.groupby("streak")["runs"].sum().max())
    figure.update_yaxes(title="runs", rangemode="tozero", **_whole_ticks(most))
    return _finish(figure, height=300, legend=True).update_xaxes(showgrid=False)


def spread(frame: pd.DataFrame, measure: Literal["tokens", "steps"]) -> go.Figure:
    """A box for each task: the middle half of its runs, their median, and whiskers to the smallest and the largest."""
    known = frame[frame[f"{measure}_median"].notna()]
    rows = list(range(len(known)))
    labels = [task_label(row["task"], int(row["tasks"]), is_rest=bool(row["is_rest"])) for row in known.to_dict("records")]
    color = theme.TOKENS if measure == "tokens" else theme.STEPS
    on_log_scale = _is_wide(known, measure)
    figure = go.Figure(
        go.Box(
            orientation="h",
            y=rows,
            lowerfence=_drawn(known[f"{measure}_min"], on_log_scale),
            q1=_drawn(known[f"{measure}_q1"], on_log_scale),
            median=_drawn(known[f"{measure}_median"], on_log_scale),
            q3=_drawn(known[f"{measure}_q3"], on_log_scale),
            upperfence=_drawn(known[f"{measure}_max"], on_log_scale),
            line={"color": color, "width": 1.5},
            width=0.55,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    # A task with few runs is hardly a box: the dot on its median can be seen and hovered all the same. The box itself is
    # not hovered, since the labels of its five numbers overlap.
    figure.add_scatter(
        x=_drawn(known[f"{measure}_median"], on_log_scale),
        y=rows,
        mode="markers",
        marker={"color": color, "size": 7},
        text=[_spread_words(row, measure) for row in known.to_dict("records")],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    _rows(figure, labels)
    if on_log_scale:
        figure.update_xaxes(title=f"{measure} per run (log scale)", type="log", dtick=1, tickformat="~s")
    else:
        figure.update_xaxes(title=f"{measure} per run", rangemode="tozero", tickformat="~s", nticks=6)
    figure.update_layout(hoverdistance=40)
    return _finish(figure, height=_height(len(known)))


def task_label(task: object, tasks: int, *, is_rest: bool) -> str:
    """What a row of the charts per task is called."""
    if is_rest:
        return f"<i>{count(tasks)} other {'task' if tasks == 1 else 'tasks'}</i>"
    return safe(short(text_of(task, "(no task)"), 24))


def safe(text: str) -> str:
    """Keep Plotly from reading tags in a text that somebody else wrote."""
    return html.escape(text, quote=False)


def _is_wide(frame: pd.DataFrame, measure: str) -> bool:
    """Whether one task is so much bigger than the others that on a plain scale they would all be a line at zero."""
    return bool(frame[f"{measure}_max"].max() > WIDE * max(float(frame[f"{measure}_median"].median()), 1.0))


def _drawn(values: pd.Series[float], on_log_scale: bool) -> list[float]:
    return [max(value, 1.0) if on_log_scale else value for value in values.astype(float)]


def _spread_words(row: Mapping[Hashable, Any], measure: str) -> str:
    values = [count(row[f"{measure}_{name}"]) for name in ("min", "q1", "median", "q3", "max")]
    name = safe(short(text_of(row["task"], "other tasks" if row["is_rest"] else "(no task)"), 60))
    return (
        f"<b>{name}</b><br>{count(row['runs'])} runs, {count(row[measure])} {measure} in all"
        f"<br>median {values[2]}, middle half {values[1]} to {values[3]}<br>smallest {values[0]}, largest {values[4]}"
    )


def _flag_words(flagged: bool) -> str:
    return "with a loop verdict" if flagged else "no loop verdict"


def _marker(color: str | list[str], *, flagged: bool) -> dict[str, object]:
    marker: dict[str, object] = {"color": color, "line": {"width": 0}}
    if flagged:
        # Coloured stripes on a clear ground, named because the page's theme would make them white.
        marker["pattern"] = {"shape": FLAGGED_HATCH, "fgcolor": color, "bgcolor": CLEAR, "size": 6, "solidity": 0.45}
        marker["line"] = {"width": 1, "color": color}
    return marker


def _legend_entry(figure: go.Figure, *, flagged: bool, orientation: str) -> None:
    """The legend explains the hatch only; the colours stand beside their names already."""
    figure.add_bar(
        x=[None], y=[None], orientation=orientation, marker=_marker(theme.NEUTRAL, flagged=flagged), name=_flag_words(flagged)
    )


def _rows(figure: go.Figure, labels: list[str]) -> None:
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[len(labels) - 0.4, -0.6],
        automargin=True,
        showgrid=False,
        zeroline=False,
    )


def _whole_ticks(most: int) -> dict[str, Any]:
    """Ticks of an axis that counts: never between two whole numbers."""
    return {"dtick": 1} if most <= 6 else {"nticks": 6, "tickformat": "d"}


def _height(rows: int) -> int:
    return 80 + ROW_HEIGHT * max(rows, 2)


def _finish(figure: go.Figure, *, height: int, legend: bool = False) -> go.Figure:
    figure.update_layout(
        height=height,
        barmode="stack",
        bargap=0.35,
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        margin={"l": 8, "r": 16, "t": 36 if legend else 8, "b": 8},
        showlegend=legend,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "bottom",
            "traceorder": "normal",
            "title": {"text": ""},
        },
        dragmode=False,
    )
    figure.update_xaxes(gridcolor=GRID, showgrid=True, zeroline=False, fixedrange=True, automargin=True)
    figure.update_yaxes(gridcolor=GRID, zeroline=False, fixedrange=True)
    return figure
