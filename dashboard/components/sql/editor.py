"""The editor: the query, examples to begin with, and what was asked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.sql.desk import LONGEST_TEXT, Notice
from dashboard.language import has, t
from dashboard.wording import option
from otel_processor.store.scripts import Example, examples

if TYPE_CHECKING:
    from dashboard.components.sql.desk import Desk

TEXT = "sql text"
EXAMPLE = "sql example"
EARLIER = "sql earlier"

_HEIGHT = 320
_LONGEST_CHOICE = 90


def text() -> str:
    """Return the query in the editor."""
    return str(st.session_state.get(TEXT) or "")


def fill(new: str) -> None:
    """Put another query into the editor; before it is drawn or in a callback."""
    st.session_state[TEXT] = new


def replace(desk: Desk, new: str) -> None:
    """Put another query into the editor; the one in it is kept among the earlier ones."""
    desk.notice = None
    if new != text() and not _is_example(text()):
        desk.put_aside(text())
    fill(new)


def show(desk: Desk) -> None:
    """Show the editor, filled with the first example at first."""
    if TEXT not in st.session_state:
        fill(_with_title(examples()[0]))
    with st.container(horizontal=True, gap="small"):
        st.selectbox(
            t("sql.examples"),
            examples(),
            index=None,
            format_func=_title,
            placeholder=t("sql.choose_example"),
            key=EXAMPLE,
            on_change=_take_example,
            args=(desk,),
        )
        st.selectbox(
            t("sql.earlier"),
            list(desk.earlier),
            index=None,
            format_func=lambda earlier: option(earlier, _LONGEST_CHOICE),
            placeholder=t("sql.choose_earlier" if desk.earlier else "sql.no_earlier"),
            key=EARLIER,
            on_change=_take_earlier,
            args=(desk,),
            disabled=not desk.earlier,
        )
    if desk.notice in {Notice.FROM_LINK, Notice.LINK_TOO_LONG}:
        st.info(t(f"sql.{desk.notice}"), icon=":material/link:")
    st.text_area(
        t("sql.query"),
        key=TEXT,
        height=_HEIGHT,
        max_chars=LONGEST_TEXT,
        placeholder="select … from runs",
        # The text is read when the query is run; leaving the field need not draw the page anew.
        on_change="ignore",
        persist_state="session",
        help=t("sql.query_help"),
    )


def _take_example(desk: Desk) -> None:
    chosen: Example | None = st.session_state[EXAMPLE]
    if chosen is not None:
        replace(desk, _with_title(chosen))
    # Free again, so that the same one can be taken again.
    st.session_state[EXAMPLE] = None


def _take_earlier(desk: Desk) -> None:
    chosen: str | None = st.session_state[EARLIER]
    if chosen is not None:
        replace(desk, chosen)
    st.session_state[EARLIER] = None


def _title(example: Example) -> str:
    key = f"sql.example.{example.name}"
    return t(key) if has(key) else example.title


def _with_title(example: Example) -> str:
    return f"-- {_title(example)}\n{example.text}"


def _is_example(query: str) -> bool:
    return any(query.endswith(f"\n{example.text}") for example in examples())
