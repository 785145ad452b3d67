"""Run and cancel, the limits, and how long a query runs already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.sql import address, editor
from dashboard.components.sql.desk import MOST_ROWS, MOST_SECONDS, Notice
from dashboard.language import t
from dashboard.wording import whole

if TYPE_CHECKING:
    from dashboard.components.sql.desk import Desk

ROWS = "sql rows"
SECONDS = "sql seconds"
RUN = "sql run"
CANCEL = "sql cancel"

_ROWS_AT_FIRST = 1_000
_SECONDS_AT_FIRST = 10


def show(desk: Desk) -> None:
    """Show the controls, and of a query that runs for how long it does."""
    is_running = desk.attempt is not None and desk.attempt.look() is None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            t("sql.run"),
            key=RUN,
            type="primary",
            icon=":material/play_arrow:",
            shortcut="Ctrl+Enter",
            disabled=is_running,
            on_click=_run,
            args=(desk,),
        )
        st.button(t("sql.cancel"), key=CANCEL, icon=":material/stop:", disabled=not is_running, on_click=desk.cancel)
        _number(ROWS, _ROWS_AT_FIRST, MOST_ROWS, step=100)
        _number(SECONDS, _SECONDS_AT_FIRST, MOST_SECONDS, step=5)
    if is_running and desk.attempt is not None:
        passed, most = desk.attempt.seconds, desk.attempt.question.limit_seconds
        st.progress(min(passed / most, 1.0), t("sql.running", seconds=int(passed), most=most))
    elif desk.notice in {Notice.EMPTY, Notice.RUNS_ALREADY, Notice.OTHERS_RUN, Notice.CANNOT}:
        st.warning(t(f"sql.{desk.notice}"))


def _run(desk: Desk) -> None:
    text = editor.text()
    if desk.ask(text, int(st.session_state[ROWS]), int(st.session_state[SECONDS])):
        address.put(desk, text)


def _number(key: str, at_first: int, most: int, *, step: int) -> None:
    st.number_input(
        t(key.replace(" ", ".")),
        min_value=1,
        max_value=most,
        value=at_first,
        step=step,
        key=key,
        width=150,
        help=t(f"{key.replace(' ', '.')}_help", most=whole(most)),
        persist_state="session",
    )
