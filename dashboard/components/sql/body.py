"""The body of the page of SQL: the editor with the schema beside it, what runs it, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.sql import address, controls, editor, result, schema
from dashboard.components.sql.desk import Desk, of_this_session
from dashboard.data import State
from dashboard.questions import sql as questions

if TYPE_CHECKING:
    from dashboard.components.sql.attempt import Attempt

_POLL_SECONDS = 0.5

_STYLE = """<style>
.st-key-sql_editor textarea { font-family: "Source Code Pro", ui-monospace, monospace; font-size: 0.875rem; tab-size: 4; }
@media (max-width: 640px) { div:has(> .st-key-sql_schema) { flex: none !important; height: 13rem; } }
</style>"""


def show() -> None:
    """Show the page; where there is no database, say so and wait for one."""
    if questions.schema().state in {State.MISSING, State.UNREADABLE}:
        _wait()
        return
    desk = of_this_session()
    linked = address.text_of_link(desk)
    if linked is not None:
        editor.fill(linked)
    st.html(_STYLE)
    # Looked at once: an answer that comes while the page is drawn must not stand beside a button that cannot be clicked yet.
    attempt, is_running = drawn = desk.standing
    _ask(desk, drawn)
    if attempt is not None and not is_running:
        result.show(attempt)
    if desk.standing != drawn:
        st.rerun()


@st.fragment(run_every=2)
def _wait() -> None:
    answer = questions.schema()
    if answer.state not in {State.MISSING, State.UNREADABLE}:
        st.rerun()
    notice.show(answer)


@st.fragment
def _ask(desk: Desk, drawn: tuple[Attempt | None, bool]) -> None:
    left, right = st.columns([5, 2], gap="medium")
    with left:
        with st.container(key="sql_editor"):
            editor.show(desk)
        _controls(desk, drawn)
    with right:
        schema.show(questions.schema(), desk)


def _controls(desk: Desk, drawn: tuple[Attempt | None, bool]) -> None:
    _, is_running = drawn

    # The page asks only while there is something to wait for.
    @st.fragment(run_every=_POLL_SECONDS if is_running else None)
    def polled() -> None:
        # A query that was refused at once has begun and ended since, so whether one runs does not tell.
        if desk.standing != drawn:
            # Before anything is drawn: a button that can be clicked already would be asked with what was sent before.
            st.rerun()
        controls.show(desk)

    polled()
