"""The body of the page: numbers of this moment beside those of the last day, alerts, open runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.now import alerts, last_day, numbers, open_runs, severity

if TYPE_CHECKING:
    from dashboard.filters import Filters


# An alert has to be on the page within 3 seconds of its span: what is asked is half a second old at most. All of it is drawn
# together: numbers, alerts and open runs of different moments contradict each other.
@st.fragment(run_every=1.5)
def show(filters: Filters) -> None:
    """Show what the chosen runs are doing now; asks again by itself."""
    left, right = st.columns([6, 5], gap="large")
    with left:
        numbers.show(filters)
    with right:
        last_day.show(filters)
    alerts.show(filters, severity.choose())
    open_runs.show(filters)
