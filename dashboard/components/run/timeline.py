"""The timeline on a run's page, with the calls that the colours stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import theme
from dashboard.charts import timeline
from dashboard.wording import count, short, text_of

if TYPE_CHECKING:
    import pandas as pd


def show(calls: pd.DataFrame, alerts: pd.DataFrame, signatures: pd.DataFrame, *, step_key: str, chosen: int | None) -> None:
    """Show the timeline; a click on a call makes its step the chosen one."""
    st.subheader("Timeline")
    st.caption(
        "Each bar is a call, each lane a tool. The same call has the same colour: one colour again and again is a loop. "
        "Shaded: two or more flat steps in a row. Cross: the call failed. Diamond: a verdict. Click a bar to read its step."
    )
    colors = theme.signature_colors([str(signature) for signature in signatures.get("signature", [])])
    key = f"timeline {step_key}"
    st.plotly_chart(
        timeline.timeline(calls, alerts, colors, chosen),
        key=key,
        config=timeline.CONFIG,
        on_select=lambda: _choose_clicked(key, step_key),
        selection_mode="points",
    )
    _legend(signatures, colors)


def _choose_clicked(chart_key: str, step_key: str) -> None:
    points = st.session_state[chart_key].selection.points
    if points and points[0].get("customdata") is not None:
        step = points[0]["customdata"]
        st.session_state[step_key] = int(step[0] if isinstance(step, list) else step)


def _legend(signatures: pd.DataFrame, colors: dict[str, str]) -> None:
    with st.container(horizontal=True, gap="medium"):
        _entry(theme.NEUTRAL, "model call")
        _entry(theme.ONCE, "tool call made once" if len(signatures) < len(theme.SIGNATURES) else "any other tool call")
    for row in signatures.to_dict("records"):
        steps = f"steps {row['first_step']} to {row['last_step']}"
        text = f"{count(row['calls'])} times {short(text_of(row['tool'], '(no name)'), 40)}, {steps}: "
        _entry(colors[str(row["signature"])], text + short(text_of(row["arguments"], "arguments not recorded"), 80))


def _entry(color: str, text: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        # Only a colour of ours goes into HTML; the text beside it was written by somebody else.
        st.html(f'<div style="width:14px;height:14px;border-radius:3px;background:{color}"></div>', width="content")
        st.text(text, width="content")
