"""The table of runs with its pages; kept fresh as long as nobody turns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.runs import search as searching
from dashboard.components.runs import table
from dashboard.language import t
from dashboard.questions import runs as questions
from dashboard.wording import whole

if TYPE_CHECKING:
    from dashboard.filters import Filters
    from dashboard.run_search import RunSearch

REFRESH_SECONDS = 10


def show(filters: Filters) -> None:
    """Show the chosen runs that the search leaves, one page of them."""
    _page(filters, searching.show())


@st.fragment(run_every=REFRESH_SECONDS)
def _page(filters: Filters, search: RunSearch) -> None:
    found = questions.found(filters, search)
    notice.show(found)
    if not found.is_usable:
        return
    runs = int(found.frame["runs"].iloc[0])
    if not runs:
        st.info(t("runs.nothing_found") if search.conditions() != type(search)().conditions() else t("notice.nothing_chosen"))
        return
    pages = -(-runs // questions.ROWS_PER_PAGE)
    search = search.on_page(_chosen_page(search, pages))
    searching.keep(search)
    answer = questions.page(filters, search)
    if notice.drawable(answer):
        first = (search.page - 1) * questions.ROWS_PER_PAGE + 1
        last = first + len(answer.frame) - 1
        st.caption(t("runs.shown", first=whole(first), last=whole(last), runs=whole(runs), order=_order(search)))
        table.show(answer.frame, key=f"runs {search}")
    if pages > 1:
        st.pagination(pages, default=search.page, key=_key(search))


def _order(search: RunSearch) -> str:
    return t("runs.sorted_down" if search.descending else "runs.sorted_up", by=t(f"runs.by_{search.sort}").lower())


def _key(search: RunSearch) -> str:
    """One key for each search: another search begins on its own page."""
    return f"page of {searching.round_number()} {search.on_page(1)}"


def _chosen_page(search: RunSearch, pages: int) -> int:
    kept = st.session_state.get(_key(search))
    wanted = min(max(int(kept or search.page), 1), pages)
    if kept is not None and kept != wanted:
        # There are fewer pages than there were.
        st.session_state[_key(search)] = wanted
    return wanted
