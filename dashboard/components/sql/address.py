"""The query in the address, `?q=`: a link can bring one along, and never runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.sql.desk import Notice
from dashboard.wording import inert

if TYPE_CHECKING:
    from dashboard.components.sql.desk import Desk

NAME = "q"
LONGEST = 4_000
"""Characters of a query in an address; browsers and proxies cut addresses that are much longer."""


def text_of_link(desk: Desk) -> str | None:
    """Return the query that a link has brought since the last time, None if there is none.

    It goes into the editor and waits there for the reader's click: somebody else wrote it, and opening a link must not run
    anything. What cannot be seen in it is made visible, so that what is read is what would be run.
    """
    asked = st.query_params.get(NAME)
    if asked == desk.in_address:
        return None
    desk.in_address = asked
    if asked is None:
        return None
    if len(asked) > LONGEST:
        desk.notice = Notice.LINK_TOO_LONG
        return None
    desk.notice = Notice.FROM_LINK
    return inert(asked)


def put(desk: Desk, text: str) -> None:
    """Put the query that is run into the address, to be shared; one that is too long for it takes the former out."""
    desk.in_address = text if len(text) <= LONGEST else None
    if desk.in_address is not None:
        st.query_params[NAME] = desk.in_address
    elif NAME in st.query_params:
        del st.query_params[NAME]
