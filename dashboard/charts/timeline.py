"""The timeline of a run: what it called at each step, coloured so that a repetition shows as one colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import spent as curves
from dashboard.charts.bands import agents, bands
from dashboard.charts.base import CLEAR, GRID, safe
from dashboard.charts.lanes import VERDICTS, Lanes, lanes_of
from dashboard.language import current, t
from dashboard.wording import count, duration, number_of, short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    import pandas as pd

    from dashboard.charts.bands import Band

LANE_HEIGHT = 30
STEP_WIDTH = 0.9
FEWEST_STEPS_DRAWN = 12
_MARGIN = 80

CONFIG = {"displaylogo": False, "scrollZoom": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "toImage"]}
"""The timeline can be zoomed, since five hundred steps do not fit a phone."""


def timeline(
    calls: pd.DataFrame,
    alerts: pd.DataFrame,
    colors: dict[str, str],
    chosen: int | None = None,
    *,
    spent: pd.DataFrame | None = None,
    lanes: Lanes | None = None,
    revision: str = "",
) -> go.Figure:
    """Draw calls as bars, a lane for each tool; flat streaks as bands behind, verdicts on top, errors crossed out.

    Args:
        calls: rows of `run_calls`.
        alerts: rows of `run_alerts`; those outside the steps of `calls` are left out.
        colors: the colour of each signature that the run repeats.
        chosen: the step that is framed.
        spent: rows of `run_spend`, drawn below on the same steps.
        lanes: as `lanes_of` chooses them for these calls.
        revision: while it is the same, a figure drawn anew keeps the reader's zoom.
    """
    first, last = int(calls["step"].min()), int(calls["step"].max())
    marked = marked_alerts(calls, alerts)
    lanes = lanes or lanes_of(calls, with_verdicts=len(marked) > 0)
    drawn = _placed(calls, lanes)
    figure = go.Figure(_bars(drawn, colors))
    _add_errors(figure, drawn)
    if len(marked):
        _add_verdicts(figure, marked)
    steps = marked["step"].tolist() if len(marked) else []
    shapes = [*_band_shapes(bands(calls), lanes), *_border_shapes(lanes), *_verdict_shapes(steps), *_frame_shape(chosen)]
    figure.update_layout(shapes=shapes)
    _finish(figure, lanes, (first, last), crowded=bool((drawn["lane"] == len(lanes.shown)).any()), revision=revision)
    if spent is not None and len(spent):
        _add_spent(figure, spent)
    return figure


def marked_alerts(calls: pd.DataFrame, alerts: pd.DataFrame) -> pd.DataFrame:
    """Return the alerts that were raised at the steps of these calls."""
    return alerts[alerts["step"].between(calls["step"].min(), calls["step"].max())] if len(alerts) else alerts


def call_color(kind: str, signature: object, colors: dict[str, str]) -> str:
    """The colour of one call: neutral for the model, its signature's for a repeated call, one more for all others."""
    if kind == "model":
        return theme.NEUTRAL
    return colors.get(text_of(signature, ""), theme.ONCE)


def _placed(calls: pd.DataFrame, lanes: Lanes) -> pd.DataFrame:
    """Add where each call is drawn: its lane, and its share of the step's width when there are several in one lane."""
    lane = [lanes.place(agent, kind, tool) for agent, kind, tool in zip(agents(calls), calls["kind"], calls["tool"], strict=True)]
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
    is_tool = row["kind"] == "tool"
    name = text_of(row["tool" if is_tool else "model"], "") or t("wording.no_name" if is_tool else "timeline.model_call")
    lines = [f"<b>{t('timeline.step_of', step=row['step'])}: {safe(short(name, 60))}</b>"]
    if text_of(row["agent"], ""):
        lines.append(safe(t("alert.agent", name=short(text_of(row["agent"]), 60))))
    if text_of(row["arguments"], ""):
        lines.append(safe(short(text_of(row["arguments"]), 90)))
    facts = [t("run.took", time=duration(row["started_at"], row["ended_at"]))]
    if not is_tool:
        facts.append(t("timeline.tokens", tokens_in=count(row["input_tokens"]), tokens_out=count(row["output_tokens"])))
    elif number_of(row["flat_steps"]):
        facts.append(t("timeline.flat", n=count(row["flat_steps"])))
    if row["is_error"]:
        facts.append(safe(t("run.failed", error=short(text_of(row["error_class"], t("run.not_classified")), 40))))
    return "<br>".join([*lines, ", ".join(facts)])


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
            f"<b>{t('timeline.step_of', step=f'{step:.0f}')}: {safe(short(theme.pattern_label(pattern), 60))}</b>"
            f"<br>{safe(short(message, 110))}"
            for step, pattern, message in zip(alerts["step"], alerts["pattern"], alerts["message"], strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        name=VERDICTS,
    )


def _band_shapes(found: list[Band], lanes: Lanes) -> Iterator[dict[str, object]]:
    for band in found:
        own = lanes.of_agent(band.agent) or [len(lanes.shown)]
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


def _border_shapes(lanes: Lanes) -> Iterator[dict[str, object]]:
    line = {"color": GRID, "width": 1}
    for place in lanes.borders():
        yield {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": place, "y1": place, "line": line, "layer": "below"}


def _verdict_shapes(steps: list[float]) -> Iterator[dict[str, object]]:
    line = {"color": theme.NEUTRAL, "width": 1, "dash": "dot"}
    for step in steps:
        yield {"type": "line", "x0": step, "x1": step, "y0": 0, "y1": 1, "yref": "paper", "line": line, "layer": "below"}


def _frame_shape(step: int | None) -> Iterator[dict[str, object]]:
    line = {"color": theme.NEUTRAL, "width": 1.5}
    if step is not None:
        yield {"type": "rect", "x0": step - 0.5, "x1": step + 0.5, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _finish(figure: go.Figure, lanes: Lanes, steps: tuple[int, int], *, crowded: bool, revision: str) -> None:
    first, last = steps
    names = lanes.labels(with_rest=crowded)
    figure.update_layout(
        height=_MARGIN + LANE_HEIGHT * max(len(names), 2),
        barmode="overlay",
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        margin={"l": 8, "r": 12, "t": 28, "b": 8},
        separators=",." if current().decimal_comma else ".,",
        showlegend=False,
        hovermode="closest",
        dragmode="zoom",
        uirevision=revision or first,
    )
    figure.update_xaxes(
        title=t("timeline.axis"),
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


def _add_spent(figure: go.Figure, spent: pd.DataFrame) -> None:
    """Make room below for what was spent."""
    lanes_height = figure.layout.height - _MARGIN
    inner = lanes_height + curves.GAP + curves.HEIGHT
    figure.update_layout(height=_MARGIN + inner)
    figure.update_yaxes(domain=[1 - lanes_height / inner, 1])
    curves.add_curves(figure, spent, curves.HEIGHT / inner)
