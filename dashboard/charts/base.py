"""What all charts have in common: ground, grid, markers, rows of names, and text of others that stays text."""

from __future__ import annotations

import html
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.language import counted, current, t
from dashboard.wording import short, text_of

FLAGGED_HATCH = "/"
ROW_HEIGHT = 30
CLEAR = "rgba(0,0,0,0)"
GRID = "rgba(133,133,128,0.25)"
LONGEST_LABEL = 24

CONFIG = {"displayModeBar": False, "scrollZoom": False}
"""How the charts behave on a page: they can be read and hovered, and do not catch the scroll wheel."""


def safe(text: str) -> str:
    """Keep Plotly from reading tags in a text that somebody else wrote."""
    return html.escape(text, quote=False)


def task_label(task: object, tasks: int, *, is_rest: bool) -> str:
    """What a row of the charts per task is called."""
    if is_rest:
        return f"<i>{counted('chart.others', tasks)}</i>"
    return safe(short(text_of(task, t("wording.no_task")), LONGEST_LABEL))


def verdict_words(flagged: bool) -> str:
    """What the part of a bar with a loop verdict is called, and the part without."""
    return t("chart.verdict") if flagged else t("chart.no_verdict")


def marker(color: str | list[str], *, flagged: bool) -> dict[str, object]:
    """Return how a bar is filled: hatched where a loop verdict was given."""
    filled: dict[str, object] = {"color": color, "line": {"width": 0}}
    if flagged:
        # Coloured stripes on a clear ground, named because the page's theme would make them white.
        filled["pattern"] = {"shape": FLAGGED_HATCH, "fgcolor": color, "bgcolor": CLEAR, "size": 6, "solidity": 0.45}
        filled["line"] = {"width": 1, "color": color}
    return filled


def legend_entry(figure: go.Figure, *, flagged: bool, orientation: str) -> None:
    """Explain the hatch only; the colours stand beside their names already."""
    figure.add_bar(
        x=[None], y=[None], orientation=orientation, marker=marker(theme.NEUTRAL, flagged=flagged), name=verdict_words(flagged)
    )


def rows(figure: go.Figure, labels: list[str]) -> None:
    """Name the rows of a chart with lying bars, the first on top."""
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[len(labels) - 0.4, -0.6],
        automargin=True,
        showgrid=False,
        zeroline=False,
    )


def whole_ticks(most: int) -> dict[str, Any]:
    """Ticks of an axis that counts: never between two whole numbers."""
    return {"dtick": 1} if most <= 6 else {"nticks": 6, "tickformat": "d" if most < 10_000 else "~s"}


def height(number_of_rows: int) -> int:
    """Return the height of a chart with so many rows, in pixels."""
    return 80 + ROW_HEIGHT * max(number_of_rows, 2)


def finish(figure: go.Figure, *, height: int, legend: bool = False) -> go.Figure:
    """Give a figure the looks that all have."""
    figure.update_layout(
        height=height,
        barmode="stack",
        bargap=0.35,
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        margin={"l": 8, "r": 16, "t": 36 if legend else 8, "b": 8},
        separators=",." if current().decimal_comma else ".,",
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
