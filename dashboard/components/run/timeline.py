"""The timeline on a run's page, with the calls that the colours stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

from dashboard import theme
from dashboard.charts import lanes as lane_charts
from dashboard.charts import timeline
from dashboard.language import counted, t
from dashboard.wording import count, dollars, number_of, short, text_of, unpriced, whole

if TYPE_CHECKING:
    import pandas as pd


def show(
    calls: pd.DataFrame,
    alerts: pd.DataFrame,
    signatures: pd.DataFrame,
    spent: pd.DataFrame,
    *,
    step_key: str,
    chosen: int | None,
    revision: str,
) -> None:
    """Show the timeline with what was spent below it; a click on a call makes its step the chosen one.

    Args:
        calls: rows of `run_calls`.
        alerts: rows of `run_alerts`.
        signatures: rows of `run_signatures`.
        spent: rows of `run_spend`.
        step_key: where the chosen step is kept.
        chosen: the chosen step.
        revision: while it is the same, the reader's zoom stays.
    """
    st.subheader(t("timeline.title"))
    st.caption(t("timeline.about"))
    lanes = lane_charts.lanes_of(calls, with_verdicts=len(timeline.marked_alerts(calls, alerts)) > 0)
    if lanes.agents_left_out or lanes.tools_left_out:
        st.caption(_left_out(lanes))
    colors = theme.signature_colors([str(signature) for signature in signatures.get("signature", [])])
    key = f"timeline {step_key}"
    st.plotly_chart(
        timeline.timeline(calls, alerts, colors, chosen, spent=spent, lanes=lanes, revision=revision),
        key=key,
        config=timeline.CONFIG,
        on_select=lambda: _choose_clicked(key, step_key),
        selection_mode="points",
    )
    _spent(spent)
    _legend(signatures, colors)


def _choose_clicked(chart_key: str, step_key: str) -> None:
    points = st.session_state[chart_key].selection.points
    if points and points[0].get("customdata") is not None:
        step = points[0]["customdata"]
        st.session_state[step_key] = int(step[0] if isinstance(step, list) else step)


def _left_out(lanes: lane_charts.Lanes) -> str:
    """Say what shares the last lane, so that nobody takes it for one tool."""
    parts = []
    if lanes.agents_left_out:
        parts.append(counted("timeline.agents_left_out", lanes.agents_left_out, shown=lane_charts.agents_shown(lanes.shown)))
    if lanes.tools_left_out:
        parts.append(counted("timeline.tools_left_out", lanes.tools_left_out))
    return " ".join(parts)


def _spent(spent: pd.DataFrame) -> None:
    """Say what the curves are, what they come to, and what they leave out."""
    if spent.empty:
        return
    last = spent.iloc[-1]
    tokens, cost = number_of(last["tokens"]), number_of(last["cost_usd"])
    parts = [t("timeline.spent_none")]
    if tokens is not None:
        known = {"step": whole(last["step"]), "tokens": count(tokens), "cost": dollars(cost)}
        parts = [t("timeline.spent" if cost is not None else "timeline.spent_unpriced", **known)]
        parts.append(unpriced(last["unpriced"]))
    if int(last["without_usage"]) and tokens is not None:
        parts.append(counted("run.without_usage", int(last["without_usage"])))
    st.caption(" ".join(filter(None, parts)))


def _legend(signatures: pd.DataFrame, colors: dict[str, str]) -> None:
    with st.container(horizontal=True, gap="medium"):
        _entry(theme.NEUTRAL, t("timeline.model_call"))
        _entry(theme.ONCE, t("timeline.made_once" if len(signatures) < len(theme.SIGNATURES) else "timeline.any_other"))
    for row in signatures.to_dict("records"):
        text = t(
            "timeline.repeated",
            n=count(row["calls"]),
            tool=short(text_of(row["tool"], t("wording.no_name")), 40),
            first=row["first_step"],
            last=row["last_step"],
            arguments=short(text_of(row["arguments"], t("run.arguments_not_recorded")), 80),
        )
        _entry(colors[str(row["signature"])], text, width="stretch")


def _entry(color: str, text: str, *, width: Literal["content", "stretch"] = "content") -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width=width, wrap=False):
        # Only a colour of ours goes into HTML; the text beside it was written by somebody else.
        st.html(f'<div style="width:14px;height:14px;border-radius:3px;background:{color}"></div>', width="content")
        st.text(text, width=width)
