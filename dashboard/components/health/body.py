"""The body of the page: what is wrong on top, then writers, messages about alerts, and the database; or a sealed copy."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.components import notice
from dashboard.components.health import database, deliveries, numbers, problems, sealed, state, verdict, writers

REFRESH_SECONDS = 5


@st.fragment(run_every=REFRESH_SECONDS)
def show() -> None:
    """Show the state of everything that has to do with the database."""
    found = state.ask()
    wrong = problems.find(found)
    if found.schema.state is data.State.MISSING:
        if wrong:
            verdict.show(wrong)
        notice.no_database()
        return
    if found.seal is not None:
        sealed.show(found.seal, wrong)
        database.show(found)
        return
    verdict.show(wrong)
    numbers.show(found)
    writers.show(found)
    deliveries.show(found)
    database.show(found)
