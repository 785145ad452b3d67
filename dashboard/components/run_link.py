"""The way to a run's page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dashboard.language import t


def show(run_id: str) -> None:
    """Show a link that opens the run's page in place."""
    st.page_link("views/run.py", label=t("alert.open_run"), icon=":material/arrow_forward:", query_params={"run": run_id})


def address(run_id: str) -> str:
    """Return the address of the run's page, relative to any page of the dashboard."""
    return f"run?{urlencode({'run': run_id})}"


def column() -> Any:
    """Return how a table shows a column of such addresses."""
    return st.column_config.LinkColumn(t("table.run"), display_text=t("table.open"), width="small")
