"""One run from its first call to its end; its id stands in the address."""

from __future__ import annotations

import streamlit as st

from dashboard.components import panels, run_body, run_choice

st.title("Run")
run_id = run_choice.show()
if run_id is not None:
    run_body.show(run_id)
elif run_choice.has_options():
    panels.recent_runs(None)
