"""What is going on: alerts as they come, and what the runs of a period look like."""

from __future__ import annotations

import streamlit as st

from dashboard.components import overview, period

st.title("Overview")
if overview.has_runs():
    overview.show(period.show())
else:
    overview.wait()
