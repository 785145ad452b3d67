"""The body of the page of tools: all of them in a table, the chosen one in detail, and charts over all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.tools import choice, detail, panels, table
from dashboard.language import t
from dashboard.questions import tools as questions

if TYPE_CHECKING:
    from dashboard.filters import Filters


def show(filters: Filters) -> None:
    """Show what the tools of the chosen runs do."""
    _all(filters)
    if (tool := choice.chosen()) is not None:
        _one(filters, tool)
    _charts(filters)


@st.fragment(run_every=11)
def _all(filters: Filters) -> None:
    answer = questions.figures(filters)
    if notice.drawable(answer, "tools.no_calls"):
        table.show(answer.frame)
        choice.show(answer.frame)


@st.fragment(run_every=19)
def _one(filters: Filters, tool: str) -> None:
    detail.show(filters, tool)


@st.fragment(run_every=17)
def _charts(filters: Filters) -> None:
    answer = questions.figures(filters)
    if not answer.is_usable or answer.frame.empty:
        return
    if choice.chosen() is not None:
        st.header(t("tools.all_tools"))
    for first, second in ((panels.outcomes, panels.errors), (panels.repeats, panels.latency)):
        left, right = st.columns(2, gap="large")
        with left:
            first(answer.frame)
        with right:
            second(answer.frame)
