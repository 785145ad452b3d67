"""The body of the overview: alerts and charts, each part asking again at its own pace."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.components import alert_list, headline, notice, panels

NUMBERS_SECONDS = 3
CHARTS_SECONDS = 10


def show(hours: int | None) -> None:
    """Show the overview, or what is missing for it."""
    totals = data.run_totals(hours)
    if not totals.is_usable or not int(totals.frame["runs_ever"].iloc[0]):
        _wait_for_runs(hours)
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        alert_list.show()
    with right:
        _numbers(hours)
    _charts(hours)


@st.fragment(run_every=alert_list.REFRESH_SECONDS)
def _wait_for_runs(hours: int | None) -> None:
    totals = data.run_totals(hours)
    if not totals.is_usable:
        notice.show(totals)
    elif int(totals.frame["runs_ever"].iloc[0]):
        st.rerun()
    else:
        notice.no_runs()


@st.fragment(run_every=NUMBERS_SECONDS)
def _numbers(hours: int | None) -> None:
    st.subheader("In numbers")
    totals = data.run_totals(hours)
    notice.show(totals)
    if totals.is_usable:
        headline.show(totals.frame)


@st.fragment(run_every=CHARTS_SECONDS)
def _charts(hours: int | None) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        panels.stop_reasons(hours)
    with right:
        panels.streaks(hours)
    left, right = st.columns(2, gap="large")
    with left:
        panels.tokens_per_task(hours)
    with right:
        panels.steps_per_task(hours)
    panels.longest_streaks(hours)
    panels.recent_runs(hours)
