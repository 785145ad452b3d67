"""The way to a run's page."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st


def show(run_id: str) -> None:
    """Show a link that opens the run's page in place."""
    st.page_link("views/run.py", label="Open run", icon=":material/arrow_forward:", query_params={"run": run_id})


def address(run_id: str) -> str:
    """Return the address of the run's page, relative to any page of the dashboard."""
    return f"run?{urlencode({'run': run_id})}"
