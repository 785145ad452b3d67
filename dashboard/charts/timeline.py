"""The timeline of a run: what it called at each step, coloured so that a repetition shows as one colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.bands import agents, bands, tool_calls
from dashboard.charts.base import CLEAR, GRID, safe
from dashboard.wording import count, duration, number_of, short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    import pandas as pd

    from dashboard.charts.bands import Band

LANES_SHOWN = 14
LANE_HEIGHT = 34
STEP_WIDTH = 0.9
VERDICTS = "verdicts"
MODEL = "model"
FEWEST_STEPS_DRAWN = 12

CONFIG = {"displaylogo": False, "scrollZoom": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "toImage"]}
"""The timeline can be zoomed, since five hundred steps do not fit a phone."""


def timeline(calls: pd.DataFrame, alerts: pd.DataFrame, colors: dict[str, str], chosen: int | None = None) -> go.Figure:
    """Draw calls as bars, a lane for each tool; flat streaks as bands behind, verdicts on top, errors crossed out.

    Args:
        calls: rows of `run_calls`.
        alerts: rows of `run_alerts`; those outside the steps of `calls` are left out.
        colors: the colour of each signature that the run repeats.
        chosen: the step that is framed.
    """
    first, last = int(calls["step"].min()), int(calls["step"].max())
    marked = alerts[alerts["step"].between(first, last)] if len(alerts) else alerts
    lanes = _lanes(calls, with_verdicts=len(marked) > 0)
    drawn = _placed(calls, lanes)
    figure = go.Figure(_bars(drawn, colors))
    _add_errors(figure, drawn)
    if len(marked):
        _add_verdicts(figure, marked)
    steps = marked["step"].tolist() if len(marked) else []
    figure.update_layout(shapes=[*_band_shapes(bands(calls), lanes), *_verdict_shapes(steps), *_frame_shape(chosen)])
    return _finish(figure, lanes, first, last)


def call_color(kind: str, signature: object, colors: dict[str, str]) -> str:
    """The colour of one call: neutral for the model, its signature's for a repeated call, one more for all others."""
    if kind == "model":
        return theme.NEUTRAL
    return colors.get(text_of(signature, ""), theme.ONCE)


def _lanes(calls: pd.DataFrame, *, with_verdicts: bool) -> list[tuple[str, str]]:
    """The lanes from top to bottom as (agent, tool); the tools that an agent calls most, and one lane for the others."""
    lanes = [("", VERDICTS)] if with_verdicts else []
    for agent, rows in calls.groupby(agents(calls), sort=False):
        if (rows["kind"] == "model").any():
            lanes.append((str(agent), MODEL))
        tools = tool_calls(rows)["tool"].map(lambda tool: text_of(tool, "(no name)"))
        lanes += [(str(agent), f"tool {name}") for name in tools.value_counts().index]
    return lanes[:LANES_SHOWN]


def _lane_of(agent: str, kind: str, tool: object, lanes: Sequence[tuple[str, str]]) -> int:
    wanted = (agent, MODEL if kind == "model" else f"tool {text_of(tool, '(no name)')}")
    return lanes.index(wanted) if wanted in lanes else len(lanes)


def _placed(calls: pd.DataFrame, lanes: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Add where each call is drawn: its lane, and its share of the step's width when there are several in one lane."""
    lane = [
        _lane_of(agent, kind, tool, lanes) for agent, kind, tool in zip(agents(calls), calls["kind"], calls["tool"], strict=True)
    ]
    drawn = calls.assign(lane=lane)
    together = drawn.groupby(["step", "lane"])["lane"]
    drawn["width"] = STEP_WIDTH / together.transform("size")
    drawn["x"] = drawn["step"] - STEP_WIDTH / 2 + (together.cumcount() + 0.5) * drawn["width"]
    return drawn


def _bars(drawn: pd.DataFrame, colors: dict[str, str]) -> go.Bar:
    return go.Bar(
        x=drawn["x"].tolist(),
        y=[0.72] * len(drawn),
        base=(drawn["lane"] - 0.36).tolist(),
        width=drawn["width"].tolist(),
        marker={
            "color": [call_color(kind, key, colors) for kind, key in zip(drawn["kind"], drawn["signature"], strict=True)],
            "line": {"width": 0},
        },
        customdata=drawn["step"].tolist(),
        hovertext=[_hover(row) for row in drawn.to_dict("records")],
        hovertemplate="%{hovertext}<extra></extra>",
        # A click chooses a step; the other bars keep their colour all the same.
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        name="calls",
    )


def _hover(row: Mapping[Hashable, Any]) -> str:
    name = text_of(row["tool"], "(no name)") if row["kind"] == "tool" else text_of(row["model"], "model call")
    lines = [f"<b>step {row['step']}: {safe(short(name, 60))}</b>"]
    if text_of(row["agent"], ""):
        lines.append(f"agent {safe(short(text_of(row['agent']), 60))}")
    if text_of(row["arguments"], ""):
        lines.append(safe(short(text_of(row["arguments"]), 90)))
    took = f"took {duration(row['started_at'], row['ended_at'])}"
    if row["kind"] == "model":
        took += f", {count(row['input_tokens'])} tokens in, {count(row['output_tokens'])} out"
    elif number_of(row["flat_steps"]):
        took += f", {count(row['flat_steps'])} flat in a row"
    if row["is_error"]:
        took += f", failed ({safe(text_of(row['error_class'], 'error'))})"
    return "<br>".join([*lines, took])


def _add_errors(figure: go.Figure, drawn: pd.DataFrame) -> None:
    failed = drawn[drawn["is_error"]]
    figure.add_scatter(
        x=failed["x"].tolist(),
        y=failed["lane"].tolist(),
        mode="markers",
        # White with a dark rim shows on every colour of the palette and on both backgrounds.
        marker={"symbol": "x", "size": 8, "color": "#ffffff", "line": {"color": "#171614", "width": 1}},
        hoverinfo="skip",
        cliponaxis=False,
        name="errors",
    )


def _add_verdicts(figure: go.Figure, alerts: pd.DataFrame) -> None:
    figure.add_scatter(
        x=alerts["step"].tolist(),
        y=[0] * len(alerts),
        mode="markers",
        marker={"symbol": "diamond", "size": 13, "color": [theme.pattern_color(name) for name in alerts["pattern"]]},
        customdata=alerts["step"].tolist(),
        hovertext=[
            f"<b>step {step:.0f}: {safe(short(theme.pattern_label(pattern), 60))}</b><br>{safe(short(message, 110))}"
            for step, pattern, message in zip(alerts["step"], alerts["pattern"], alerts["message"], strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        name=VERDICTS,
    )


def _band_shapes(found: list[Band], lanes: Sequence[tuple[str, str]]) -> Iterator[dict[str, object]]:
    for band in found:
        own = [place for place, (agent, name) in enumerate(lanes) if agent == band.agent and name != VERDICTS] or [len(lanes)]
        yield {
            "type": "rect",
            "x0": band.first_step - 0.5,
            "x1": band.last_step + 0.5,
            "y0": min(own) - 0.5,
            "y1": max(own) + 0.5,
            "fillcolor": theme.WARNING,
            "opacity": 0.2,
            "line": {"width": 0},
            "layer": "below",
        }


def _verdict_shapes(steps: list[float]) -> Iterator[dict[str, object]]:
    line = {"color": theme.NEUTRAL, "width": 1, "dash": "dot"}
    for step in steps:
        yield {"type": "line", "x0": step, "x1": step, "y0": 0, "y1": 1, "yref": "paper", "line": line, "layer": "below"}


def _frame_shape(step: int | None) -> Iterator[dict[str, object]]:
    line = {"color": theme.NEUTRAL, "width": 1.5}
    if step is not None:
        yield {"type": "rect", "x0": step - 0.5, "x1": step + 0.5, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _finish(figure: go.Figure, lanes: list[tuple[str, str]], first: int, last: int) -> go.Figure:
    bars: go.Bar = figure.data[0]
    crowded = any(base > len(lanes) - 0.5 for base in bars.base)
    names = [*(_lane_label(lane, lanes) for lane in lanes), *(["<i>other tools</i>"] if crowded else [])]
    figure.update_layout(
        height=80 + LANE_HEIGHT * max(len(names), 2),
        barmode="overlay",
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        margin={"l": 8, "r": 12, "t": 28, "b": 8},
        showlegend=False,
        hovermode="closest",
        dragmode="zoom",
        # Keeps the reader's zoom when a running run is drawn again.
        uirevision=first,
    )
    figure.update_xaxes(
        title="step",
        range=[first - 0.6, max(last, first + FEWEST_STEPS_DRAWN) + 0.6],
        tickformat="d",
        gridcolor=GRID,
        showgrid=True,
        zeroline=False,
    )
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.5, -0.6],
        automargin=True,
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    return figure


def _lane_label(lane: tuple[str, str], lanes: list[tuple[str, str]]) -> str:
    agent, name = lane
    label = safe(short(name.removeprefix("tool "), 18))
    several = len({other for other, kind in lanes if kind != VERDICTS}) > 1
    return f"{safe(short(agent, 12))}: {label}" if several and agent else label
