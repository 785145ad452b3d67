"""What a page says when there is nothing to draw: what is missing, and what to do about it."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.viewer import time_text

_DEMO = "otel-processor demo"
_INSTRUMENT = 'import otel_processor\n\notel_processor.instrument(db="agents.duckdb")'


def show(answer: data.Answer) -> None:
    """Say why an answer has no rows of now; nothing when it has."""
    match answer.state:
        case data.State.MISSING:
            no_database()
        case data.State.BUSY if answer.read_at is None:
            st.info("The database is busy: another process is writing. Trying again.")
            st.text(answer.problem)
        case data.State.BUSY:
            st.caption(f"The database is busy; this is what it said at {time_text(answer.read_at)}.")
        case data.State.UNREADABLE:
            st.warning("The database cannot be read.")
            st.text(answer.problem)
        case data.State.READY:
            pass


def no_database() -> None:
    """Say that there is no database, and how to get one."""
    st.subheader("No database yet")
    st.text(f"There is no file at {data.database_path()}. This page fills by itself as soon as an agent writes there.")
    _how_to_begin()


def no_runs() -> None:
    """Say that the database holds no run, and how to get one in."""
    st.subheader("No runs yet")
    st.text(f"The database at {data.database_path()} is there and empty. This page fills by itself with the first run.")
    _how_to_begin()


def _how_to_begin() -> None:
    st.caption("See it work first, with an agent that loops on purpose:")
    st.code(_DEMO, language=None)
    st.caption("Or add one line to an agent that OpenTelemetry already sees:")
    st.code(_INSTRUMENT, language="python", wrap_lines=True)
