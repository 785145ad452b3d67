"""The body of the page: numbers of this moment beside those of the last day, alerts, open runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.now import alerts, last_day, numbers, open_runs, severity

if TYPE_CHECKING:
    from dashboard.filters import Filters


def show(filters: Filters) -> None:
    """Show what the chosen runs are doing now."""
    left, right = st.columns([6, 5], gap="large")
    with left:
        _numbers(filters)
    with right:
        _last_day(filters)
    _alerts(filters, severity.choose())
    _open_runs(filters)


# An alert has to be on the page within 3 seconds of its span: what is asked is half a second old at most.
@st.fragment(run_every=1.5)
def _alerts(filters: Filters, chosen_severity: str | None) -> None:
    alerts.show(filters, chosen_severity)


@st.fragment(run_every=2)
def _numbers(filters: Filters) -> None:
    numbers.show(filters)


@st.fragment(run_every=2)
def _open_runs(filters: Filters) -> None:
    open_runs.show(filters)


@st.fragment(run_every=11)
def _last_day(filters: Filters) -> None:
    last_day.show(filters)
