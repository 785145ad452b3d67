"""The body of the overview: alerts and charts, each part asking again at its own pace."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.components import alert_list, headline, notice, panels


def has_runs() -> bool:
    """Whether there is anything to show yet."""
    return _holds_runs(data.run_totals(None))


@st.fragment(run_every=2)
def wait() -> None:
    """Say what is missing, and run the page again as soon as it is there."""
    totals = data.run_totals(None)
    if _holds_runs(totals):
        st.rerun()
    notice.show(totals)
    if totals.is_usable:
        notice.no_runs()


def show(hours: int | None) -> None:
    """Show alerts, numbers, charts and runs of a period."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        alert_list.show()
    with right:
        _numbers(hours)
    # One after the other and seldom at once: over much data a refresh must not hold up that of the alerts.
    _endings(hours)
    _tasks(hours)
    _tables(hours)


def _holds_runs(totals: data.Answer) -> bool:
    return totals.is_usable and int(totals.frame["runs_ever"].iloc[0]) > 0


@st.fragment(run_every=4)
def _numbers(hours: int | None) -> None:
    st.subheader("In numbers")
    totals = data.run_totals(hours)
    notice.show(totals)
    if totals.is_usable:
        headline.show(totals.frame)


@st.fragment(run_every=10)
def _endings(hours: int | None) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        panels.stop_reasons(hours)
    with right:
        panels.streaks(hours)


@st.fragment(run_every=13)
def _tasks(hours: int | None) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        panels.tokens_per_task(hours)
    with right:
        panels.steps_per_task(hours)


@st.fragment(run_every=17)
def _tables(hours: int | None) -> None:
    panels.longest_streaks(hours)
    panels.recent_runs(hours)
