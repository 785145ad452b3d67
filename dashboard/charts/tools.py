"""What tools do: how their calls come out, fail, take and repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import base, stretches
from dashboard.language import counted, t
from dashboard.wording import count, percent, seconds_text, short, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    Row = Mapping[Hashable, Any]

TOOLS_TOLD_APART = 15
"""Rows of a chart; all other tools are one row more."""

WIDE = 20
"""A longest time this many times the median one asks for a logarithmic scale."""

_SHORTEST_SECONDS = 1e-3
"""What stands for no time at all on a logarithmic scale."""

OUTCOMES = {
    "new": theme.stop_reason_color("completed"),
    "stale": theme.WARNING,
    "unknown": theme.NEUTRAL,
    "failed": theme.CRITICAL,
}
"""How a call came out, in the order of the stack."""

ERROR_CLASSES = {"transient": "#b98a14", "permanent": theme.CRITICAL, "validation": "#9a63d6", "other": theme.NEUTRAL}

_SUMMED = (
    "tools", "calls", "failed_calls", "new_calls", "stale_calls", "unknown_calls", "transient_errors", "permanent_errors",
    "validation_errors", "other_errors", "signed_calls", "repeated_calls", "retries",
)  # fmt: skip


def outcomes(frame: pd.DataFrame) -> go.Figure:
    """A bar of all calls for each tool, divided by how they came out."""
    top = folded(frame)
    figure = go.Figure()
    for name, color in OUTCOMES.items():
        _part(figure, top, f"{name}_calls", "calls", t(f"tools.{name}"), color)
    base.rows(figure, _labels(top, "calls"))
    figure.update_xaxes(title=t("tools.share_of_calls"), range=[0, 1], tickformat=".0%", nticks=6)
    return base.finish(figure, height=base.height(len(top)) + 30, legend=True)


def errors(frame: pd.DataFrame) -> go.Figure:
    """The share of calls that failed for each tool of which some did, divided by what kind of failure it was."""
    failing = frame[frame["failed_calls"] > 0].sort_values(["is_rest", "failed_calls"], ascending=[True, False])
    top = folded(failing)
    figure = go.Figure()
    for name, color in ERROR_CLASSES.items():
        _part(figure, top, f"{name}_errors", "calls", t(f"tools.{name}_errors"), color)
    base.rows(figure, _labels(top, "failed_calls"))
    most = float((top["failed_calls"] / top["calls"]).max())
    figure.update_xaxes(title=t("tools.share_of_calls"), range=[0, max(most * 1.08, 0.02)], tickformat=".0%", nticks=6)
    return base.finish(figure, height=base.height(len(top)) + 30, legend=True)


def repeats(frame: pd.DataFrame) -> go.Figure:
    """The share of calls that repeat one of their run for each tool, those that follow a failure apart."""
    top = folded(frame[frame["signed_calls"] > 0])
    top = top.assign(other_repeats=top["repeated_calls"] - top["retries"])
    figure = go.Figure()
    _part(figure, top, "other_repeats", "signed_calls", t("tools.other_repeats"), theme.ONCE)
    _part(figure, top, "retries", "signed_calls", t("tools.retries"), theme.pattern_color("retry_storm"))
    base.rows(figure, _labels(top, "repeated_calls"))
    most = float((top["repeated_calls"] / top["signed_calls"]).max())
    figure.update_xaxes(title=t("tools.share_of_calls"), range=[0, max(most * 1.08, 0.02)], tickformat=".0%", nticks=6)
    return base.finish(figure, height=base.height(len(top)) + 30, legend=True)


def latency(frame: pd.DataFrame) -> go.Figure:
    """A line from the median to the 95th percentile of the time a call takes, for each tool."""
    timed = frame[~frame["is_rest"] & frame["seconds_median"].notna()].head(TOOLS_TOLD_APART)
    on_log_scale = bool(timed["seconds_p95"].max() > WIDE * max(float(timed["seconds_median"].median()), _SHORTEST_SECONDS))
    middles, mosts = (
        [max(value, _SHORTEST_SECONDS) if on_log_scale else value for value in timed[f"seconds_{name}"].astype(float)]
        for name in ("median", "p95")
    )
    places = list(range(len(timed)))
    words = [_times(row) for row in timed.to_dict("records")]
    figure = go.Figure()
    for place, middle, most in zip(places, middles, mosts, strict=True):
        line = {"color": theme.STEPS, "width": 3}
        figure.add_scatter(x=[middle, most], y=[place, place], mode="lines", line=line, hoverinfo="skip", showlegend=False)
    for name, x, symbol in (("tools.median", middles, "circle"), ("tools.p95", mosts, "line-ns-open")):
        figure.add_scatter(
            x=x,
            y=places,
            mode="markers",
            name=t(name),
            marker={
                "color": theme.STEPS,
                "size": 9 if symbol == "circle" else 12,
                "symbol": symbol,
                "line": {"width": 0 if symbol == "circle" else 3, "color": theme.STEPS},
            },
            text=words,
            hovertemplate="%{text}<extra></extra>",
        )
    base.rows(figure, [_name(row) for row in timed.to_dict("records")])
    title = t("tools.seconds_log" if on_log_scale else "tools.seconds")
    if on_log_scale:
        figure.update_xaxes(title=title, type="log", dtick=1, tickformat="~g")
    else:
        figure.update_xaxes(title=title, rangemode="tozero", nticks=6)
    return base.finish(figure, height=base.height(len(timed)) + 30, legend=True)


def over_time(frame: pd.DataFrame) -> go.Figure:
    """A stack of calls for each stretch of time, by how they came out."""
    figure = go.Figure()
    for name, color in OUTCOMES.items():
        figure.add_bar(
            x=list(frame["stretch"]),
            y=list(frame[f"{name}_calls"]),
            width=stretches.width_ms(frame),
            marker={"color": color, "line": {"width": 0}},
            name=t(f"tools.{name}"),
            hovertemplate=f"%{{x}}: %{{y}}, {t(f'tools.{name}')}<extra></extra>",
        )
    figure.update_yaxes(title=t("tools.calls_axis"), rangemode="tozero", **base.whole_ticks(int(frame["calls"].max())))
    stretches.axis(figure, frame)
    return base.finish(figure, height=300, legend=True).update_xaxes(showgrid=False)


def folded(frame: pd.DataFrame, told_apart: int = TOOLS_TOLD_APART) -> pd.DataFrame:
    """Return the first rows, and one that adds up all others; counts only, since nothing else adds up."""
    named = frame[~frame["is_rest"]]
    first = named.head(told_apart)
    others = pd.concat([named.iloc[told_apart:], frame[frame["is_rest"]]])
    if others.empty:
        return first.reset_index(drop=True)
    rest = {"tool": None, "is_rest": True} | {name: int(others[name].sum()) for name in _SUMMED}
    return pd.DataFrame([*first.to_dict("records"), rest])


def _part(figure: go.Figure, top: pd.DataFrame, column: str, of: str, name: str, color: str) -> None:
    """Add one part of each bar."""
    figure.add_bar(
        orientation="h",
        x=[part / whole_ for part, whole_ in zip(top[column], top[of], strict=True)],
        y=list(range(len(top))),
        name=name,
        marker={"color": color, "line": {"width": 0}},
        hovertext=[f"<b>{_name(row)}</b><br>{name}: {_share(row, column, of)}" for row in top.to_dict("records")],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _share(row: Row, column: str, of: str) -> str:
    return t("tools.part_of", part=whole(row[column]), whole=whole(row[of]), share=percent(row[column], row[of]))


def _times(row: Row) -> str:
    lines = [f"<b>{_name(row)}</b>"]
    lines += [f"{t(f'tools.{name}')}: {seconds_text(row[f'seconds_{name}'])}" for name in ("median", "p95", "max")]
    return "<br>".join([*lines, counted("wording.calls", int(row["timed_calls"]))])


def _labels(top: pd.DataFrame, column: str) -> list[str]:
    return [f"{_name(row)}  <b>{count(row[column])}</b>" for row in top.to_dict("records")]


def _name(row: Row) -> str:
    if row["is_rest"]:
        return f"<i>{counted('tools.others', int(row['tools']))}</i>"
    return base.safe(short(text_of(row["tool"], t("wording.no_name")), base.LONGEST_LABEL))
