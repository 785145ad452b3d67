"""What a page says when there is nothing to draw: what is missing, and what to do about it."""

from __future__ import annotations

import shlex

import streamlit as st

from dashboard import data
from dashboard.language import t
from dashboard.viewer import time_text


def show(answer: data.Answer) -> None:
    """Say why an answer has no rows of now; nothing when it has."""
    match answer.state:
        case data.State.MISSING:
            no_database()
        case data.State.BUSY if answer.read_at is None:
            st.info(t("notice.busy"))
            st.text(answer.problem)
        case data.State.BUSY:
            st.caption(t("notice.busy_since", time=time_text(answer.read_at)))
        case data.State.UNREADABLE:
            st.warning(t("notice.unreadable"))
            st.text(answer.problem)
        case data.State.READY:
            pass


def drawable(answer: data.Answer, otherwise: str | None = None) -> bool:
    """Return whether there are rows to draw; where there are none, say why.

    Args:
        answer: what the store said.
        otherwise: the key of the text for an answer without rows; by default that nothing was seen with these filters.
    """
    show(answer)
    if answer.is_usable and answer.frame.empty:
        st.info(t(otherwise or "notice.nothing_chosen"))
    return answer.is_usable and not answer.frame.empty


def no_database() -> None:
    """Say that there is no database, and how to get one."""
    st.subheader(t("notice.no_database"))
    st.text(t("notice.no_database_text", path=data.database_path()))
    _how_to_begin()


def no_runs() -> None:
    """Say that the database holds no run, and how to get one in."""
    st.subheader(t("notice.no_runs"))
    st.text(t("notice.no_runs_text", path=data.database_path()))
    _how_to_begin()


def _how_to_begin() -> None:
    path = data.database_path()
    st.caption(t("notice.see_demo"))
    st.code(f"otel-processor demo --headless --db {shlex.quote(path)}", language=None, wrap_lines=True)
    st.caption(t("notice.add_line"))
    st.code(f"import otel_processor\n\notel_processor.instrument(db={path!r})", language="python", wrap_lines=True)
