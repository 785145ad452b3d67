"""The body of the overview: numbers, charts and tables, each part asking again at its own pace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.overview import headline, panels, tasks
from dashboard.language import t
from dashboard.questions import overview

if TYPE_CHECKING:
    from dashboard.filters import Filters


def show(filters: Filters) -> None:
    """Show what the chosen runs add up to, why they ended, and what their tasks take."""
    # One after the other and seldom at once: over much data a refresh must not hold up what somebody asks for.
    _numbers(filters)
    _endings(filters)
    _streaks(filters)
    _tasks(filters)
    _history(filters)


@st.fragment(run_every=4)
def _numbers(filters: Filters) -> None:
    st.subheader(t("headline.numbers"))
    totals = overview.run_totals(filters)
    notice.show(totals)
    if totals.is_usable:
        headline.show(totals.frame)


@st.fragment(run_every=10)
def _endings(filters: Filters) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        panels.stop_reasons(filters)
    with right:
        panels.stop_reasons_over_time(filters)


@st.fragment(run_every=13)
def _streaks(filters: Filters) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        panels.streaks(filters)
    with right:
        panels.longest_streaks(filters)


@st.fragment(run_every=17)
def _tasks(filters: Filters) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        tasks.spread(filters, "tokens")
    with right:
        tasks.spread(filters, "cost")
    left, right = st.columns(2, gap="large")
    with left:
        tasks.spread(filters, "steps")
    with right:
        tasks.flat_steps(filters)


@st.fragment(run_every=23)
def _history(filters: Filters) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        tasks.history(filters)
    with right:
        tasks.repeats(filters)
