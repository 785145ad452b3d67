"""What is going on: alerts as they come, and what the runs of a period look like."""

from __future__ import annotations

import streamlit as st

from dashboard.components import overview, period

st.title("Overview")
hours = period.show()
overview.show(hours)
