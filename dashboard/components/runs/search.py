"""The search above the table of runs: a text, how runs stand and ended, and the order; it stands in the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import theme
from dashboard.language import t
from dashboard.questions import runs as questions
from dashboard.run_search import ADDRESS_NAMES, LONGEST_SEARCH, MOST_NAMES, SORTS, STATUSES, RunSearch
from dashboard.wording import option

if TYPE_CHECKING:
    from collections.abc import Callable

_KEPT = "runs search"
_TOLD = "runs search in the address"
_ROUND = "runs search round"


def show() -> RunSearch:
    """Let the reader search and sort; return the search with the page that is asked for."""
    before = _asked()
    # A new round has new widgets: what a link asks for must not lose to what was chosen before it.
    key = f"runs {round_number()} {t('language.decimal')}"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input(
            t("runs.search"),
            before.text,
            max_chars=LONGEST_SEARCH,
            placeholder=t("runs.search_hint"),
            icon=":material/search:",
            key=f"{key} text",
            width=300,
        )
        status = st.segmented_control(
            t("runs.status"),
            ["all", *STATUSES],
            default=before.status or "all",
            format_func=lambda name: t(f"runs.status_{name}"),
            key=f"{key} status",
            wrap=True,
        )
        sort = st.selectbox(
            t("runs.sort"),
            list(SORTS),
            index=SORTS.index(before.sort),
            format_func=lambda name: t(f"runs.by_{name}"),
            key=f"{key} sort",
            width=210,
        )
        direction = st.segmented_control(
            t("runs.order"),
            ["down", "up"],
            default="down" if before.descending else "up",
            format_func=lambda name: t(f"runs.order_{name}"),
            key=f"{key} order",
            wrap=True,
        )
        chosen = len(before.reasons) + len(before.patterns)
        with st.popover(t("runs.more_chosen", n=chosen) if chosen else t("runs.more"), icon=":material/flag:"):
            reasons = _names("reason", before.reasons, theme.stop_reason_label, key)
            patterns = _names("pattern", before.patterns, _verdict, key)
    now = RunSearch(
        text=(text or "").strip()[:LONGEST_SEARCH],
        status=None if status in (None, "all") else status,
        reasons=reasons,
        patterns=patterns,
        sort=sort,
        descending=direction != "up",
    )
    now = now.on_page(before.page) if now == before.on_page(1) else now
    keep(now)
    if (now.reasons, now.patterns) != (before.reasons, before.patterns):
        # The label of the popover counts what is chosen now.
        st.rerun()
    return now


def keep(search: RunSearch) -> None:
    """Make a search the one in force, and say it in the address."""
    st.session_state[_KEPT] = search
    address = search.to_address()
    st.session_state[_TOLD] = address
    for name in ADDRESS_NAMES:
        if name in address:
            if st.query_params.get_all(name) != address[name]:
                st.query_params[name] = address[name]
        elif name in st.query_params:
            del st.query_params[name]


def round_number() -> int:
    """Return how often a link has asked for another search in this session."""
    return int(st.session_state.get(_ROUND, 0))


def _asked() -> RunSearch:
    """Return the search in force: what the address asks for, which is that of before unless a link was followed."""
    address = {name: st.query_params.get_all(name) for name in ADDRESS_NAMES if name in st.query_params}
    kept: RunSearch | None = st.session_state.get(_KEPT)
    if kept is None or address != st.session_state.get(_TOLD):
        asked = RunSearch.of_address(address)
        if asked != kept:
            st.session_state[_ROUND] = round_number() + 1
        kept = st.session_state[_KEPT] = asked
    return kept


def _names(field: str, before: tuple[str, ...], label: Callable[[str], str], key: str) -> tuple[str, ...]:
    known = questions.endings(field)
    chosen = st.multiselect(
        t(f"runs.{field}"),
        [*before, *(name for name in known if name not in before)],
        default=list(before),
        format_func=lambda name: option(label(name), 60, t("wording.none")),
        key=f"{key} {field}",
        placeholder=t("filters.any"),
        max_selections=MOST_NAMES,
    )
    return tuple(chosen)


def _verdict(name: str) -> str:
    return theme.verdict_label(name)
