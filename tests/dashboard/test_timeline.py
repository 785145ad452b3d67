"""The timeline shows a repetition as one colour, and marks what failed, stood still or was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from dashboard import theme
from dashboard.charts.bands import Band, bands
from dashboard.charts.lanes import AGENTS_SHOWN, LANES_SHOWN, lanes_of
from dashboard.charts.timeline import timeline

if TYPE_CHECKING:
    import plotly.graph_objects as go

NO_ALERTS = pd.DataFrame({"step": [], "pattern": [], "message": []})

COLUMNS: dict[str, Any] = {
    "kind": "tool",
    "agent": None,
    "tool": "search",
    "model": None,
    "signature": None,
    "flat_steps": 0,
    "is_error": False,
    "error_class": None,
    "arguments": None,
    "input_tokens": None,
    "output_tokens": None,
    "started_at": None,
    "ended_at": None,
}


def calls(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame([COLUMNS | {"step": step} | row for step, row in enumerate(rows, start=1)])


def draw(frame: pd.DataFrame, alerts: pd.DataFrame = NO_ALERTS) -> go.Figure:
    counted = frame["signature"].dropna().value_counts()
    return timeline(frame, alerts, theme.signature_colors([str(name) for name in counted[counted > 1].index]))


def test_the_same_signature_has_the_same_colour_and_another_has_another() -> None:
    bars = draw(calls(*({"signature": name} for name in ("a", "b", "a", "b", "a", "c")))).data[0]
    colors = list(bars.marker.color)
    assert colors[0] == colors[2] == colors[4]
    assert colors[1] == colors[3]
    assert len({colors[0], colors[1], colors[5]}) == 3
    assert colors[5] == theme.ONCE


def test_model_calls_are_neutral_and_have_a_lane_of_their_own() -> None:
    figure = draw(calls({"kind": "model", "tool": None}, {"signature": "a"}))
    assert figure.data[0].marker.color[0] == theme.NEUTRAL
    assert figure.layout.yaxis.ticktext == ("model", "search")


def test_failed_calls_are_crossed_out() -> None:
    figure = draw(calls({}, {"is_error": True, "error_class": "transient"}))
    crosses = next(trace for trace in figure.data if trace.name == "errors")
    assert list(crosses.x) == [2]
    assert "failed (transient)" in figure.data[0].hovertext[1]


def test_parallel_calls_share_the_width_of_their_step() -> None:
    frame = calls({}, {}, {}).assign(step=4)
    bars = draw(frame).data[0]
    assert len(set(bars.x)) == 3
    assert sum(bars.width) == pytest.approx(0.9)


def test_a_flat_streak_is_a_band_from_its_first_to_its_last_step() -> None:
    frame = calls(*({"flat_steps": streak} for streak in (0, 1, 2, 3, 0, 1, 0)))
    assert bands(frame) == [Band("", 2, 4, 3)]
    (shape,) = [shape for shape in draw(frame).layout.shapes if shape.fillcolor]
    assert (shape.x0, shape.x1) == (1.5, 4.5)


def test_streaks_are_those_of_one_agent() -> None:
    rows = [{"agent": "planner", "flat_steps": step} if step % 2 else {"agent": "worker"} for step in range(1, 6)]
    assert bands(calls(*rows)) == [Band("planner", 1, 5, 5)]


def test_parallel_flat_calls_of_one_step_are_one_streak() -> None:
    frame = calls({"flat_steps": 1}, {"flat_steps": 1}, {"flat_steps": 2}).assign(step=[1, 1, 2])
    assert bands(frame) == [Band("", 1, 2, 2)]


def test_verdicts_stand_where_they_fell_and_others_are_left_out() -> None:
    alerts = pd.DataFrame({"step": [2.0, 900.0, None], "pattern": "cycle", "message": "<b>round</b>"})
    figure = draw(calls({}, {}, {}), alerts)
    diamonds = next(trace for trace in figure.data if trace.name == "verdicts")
    assert list(diamonds.x) == [2]
    assert list(diamonds.marker.color) == [theme.pattern_color("cycle")]
    assert "<b>round" not in diamonds.hovertext[0]


def test_tools_of_others_are_no_markup() -> None:
    figure = draw(calls({"tool": "<a href='x'>"}))
    assert figure.layout.yaxis.ticktext[0].startswith("&lt;a")


def test_hundreds_of_tools_share_a_lane_beyond_the_first() -> None:
    figure = draw(calls(*({"tool": f"tool_{number}"} for number in range(300))))
    assert len(figure.layout.yaxis.ticktext) == LANES_SHOWN + 1
    assert figure.layout.yaxis.ticktext[-1] == "<i>other tools</i>"


def test_the_lanes_of_an_agent_stand_together_under_its_name() -> None:
    rows = [{"agent": agent, "tool": tool} for tool in ("a", "b") for agent in ("planner", "worker")]
    figure = draw(calls(*rows))
    assert figure.layout.yaxis.ticktext == ("planner: a", "b", "worker: a", "b")
    borders = [shape for shape in figure.layout.shapes if shape.type == "line"]
    assert [shape.y0 for shape in borders] == [1.5]


def test_many_agents_share_a_lane_beyond_the_first_and_it_says_how_many() -> None:
    frame = calls(*({"agent": f"agent {number}", "tool": f"t {number % 9}"} for number in range(300)))
    lanes = lanes_of(frame, with_verdicts=False)
    assert len(lanes.shown) <= LANES_SHOWN
    assert len({lane.agent for lane in lanes.shown}) == AGENTS_SHOWN
    assert lanes.agents_left_out == 300 - AGENTS_SHOWN
    assert draw(frame).layout.yaxis.ticktext[-1] == f"<i>{300 - AGENTS_SHOWN} other agents</i>"


def test_one_busy_agent_does_not_take_the_lanes_of_the_next() -> None:
    busy = [{"agent": "busy", "tool": f"t {number}"} for number in range(60)]
    frame = calls(*busy, *({"agent": "other", "tool": f"o {number}"} for number in range(3)))
    lanes = lanes_of(frame, with_verdicts=False)
    assert len(lanes.of_agent("other")) == 3
    assert len(lanes.of_agent("busy")) == LANES_SHOWN // 2
    assert lanes.tools_left_out == 60 - LANES_SHOWN // 2


def spent(**columns: list[object]) -> pd.DataFrame:
    known = {"step": [1, 2, 3], "tokens": [10, 30, 60], "cost_usd": [0.1, 0.3, 0.6], "without_usage": 0, "unpriced": 0}
    return pd.DataFrame(known | columns)


def test_what_was_spent_is_drawn_below_on_the_same_steps() -> None:
    frame = calls({}, {}, {})
    figure = timeline(frame, NO_ALERTS, {}, spent=spent())
    curves = {trace.name: trace for trace in figure.data if trace.name in {"tokens", "cost"}}
    assert list(curves["tokens"].x) == list(curves["cost"].x) == [1, 2, 3]
    assert list(curves["tokens"].y) == [10, 30, 60]
    # One x axis for all, below; the scales lie below the lanes and do not overlap them.
    assert all(trace.xaxis in (None, "x") for trace in figure.data)
    assert figure.layout.xaxis.anchor == "y2"
    assert figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]


def test_a_cost_that_nobody_knows_has_no_curve() -> None:
    figure = timeline(calls({}, {}, {}), NO_ALERTS, {}, spent=spent(cost_usd=[None, None, None]))
    assert "cost" not in {trace.name for trace in figure.data}
    assert "yaxis3" not in figure.to_dict()["layout"]
