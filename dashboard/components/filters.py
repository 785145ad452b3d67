"""The choice of runs on top of a page; it stands in the address and goes along from page to page."""

from __future__ import annotations

import streamlit as st

from dashboard.filters import ADDRESS_NAMES, KINDS, LONGEST_NAME, MOST_NAMES, PERIODS, Filters
from dashboard.language import t
from dashboard.questions import choices
from dashboard.viewer import day_text
from dashboard.wording import inert, option, short

_KEPT = "filters"
_TOLD = "filters in the address"
_ROUND = "filters round"


def show() -> Filters:
    """Let the reader choose runs; return the choice."""
    before = _asked()
    # A new round has new widgets: what a link asks for must not lose to what was chosen before it.
    key = f"{st.session_state.get(_ROUND, 0)} {t('language.decimal')}"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        period = st.segmented_control(
            t("filters.period"),
            list(PERIODS),
            default=None if before.has_dates else before.period,
            format_func=lambda name: t(f"filters.{name}"),
            key=f"period {key}",
            wrap=True,
        )
        chosen = before.names_chosen + before.has_dates
        label = t("filters.more_chosen", n=chosen) if chosen else t("filters.more")
        with st.popover(label, icon=":material/filter_list:"):
            since = st.date_input(t("filters.since"), value=before.since, key=f"since {key}", format="YYYY-MM-DD")
            until = st.date_input(t("filters.until"), value=before.until, key=f"until {key}", format="YYYY-MM-DD")
            tasks, agents, models, services = (_names(field, getattr(before, field), key) for field in KINDS)
        cleared = chosen > 0 and st.button(t("filters.clear"), type="tertiary", icon=":material/close:")
    if cleared:
        _start_anew(Filters(period=before.period))
        st.rerun()
    if period and before.has_dates and (since, until) == (before.since, before.until):
        # Choosing a range up to now takes the days back.
        _start_anew(Filters(period, None, None, tasks, agents, models, services))
        st.rerun()
    now = Filters(period or "all", since, until, tasks, agents, models, services)
    _keep(now)
    _say(now)
    if now != before:
        # The label of the popover counts what is chosen now.
        st.rerun()
    return now


def _asked() -> Filters:
    """Return the choice in force: what a link asks for, else what was chosen on the page before."""
    address = {name: st.query_params.get_all(name) for name in ADDRESS_NAMES if name in st.query_params}
    kept: Filters = st.session_state.get(_KEPT, Filters())
    if address and address != st.session_state.get(_TOLD):
        asked = Filters.of_address(address)
        if asked != kept:
            st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
        kept = st.session_state[_KEPT] = asked
    return kept


def _start_anew(choice: Filters) -> None:
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    _keep(choice)


def _keep(choice: Filters) -> None:
    st.session_state[_KEPT] = choice
    address = choice.to_address()
    st.session_state[_TOLD] = address
    for name in ADDRESS_NAMES:
        if name in address:
            if st.query_params.get_all(name) != address[name]:
                st.query_params[name] = address[name]
        elif name in st.query_params:
            del st.query_params[name]


def _names(field: str, before: tuple[str, ...], key: str) -> tuple[str, ...]:
    known = choices.names(field)
    options = [*before, *(name for name in known if name not in before)]
    chosen = st.multiselect(
        t(f"filters.{field}"),
        options,
        default=list(before),
        format_func=lambda name: option(name, 80, t("wording.none")),
        key=f"{field} {key}",
        placeholder=t("filters.any"),
        max_selections=MOST_NAMES,
        accept_new_options=len(known) >= choices.NAMES_OFFERED,
    )
    return tuple(name[:LONGEST_NAME] for name in chosen)


def _say(choice: Filters) -> None:
    """Say in one line what the page is restricted to: what stands in a popover is easily forgotten."""
    if choice.has_dates:
        since = day_text(choice.since) if choice.since else t("filters.earliest")
        until = day_text(choice.until) if choice.until else t("filters.latest")
        st.text(t("filters.dates", since=since, until=until))
        if choice.since and choice.until and choice.since > choice.until:
            st.warning(t("filters.backwards"))
    names = [short(inert(name), 40) or t("wording.none") for field in KINDS for name in getattr(choice, field)]
    if names:
        st.text(t("filters.chosen", names=", ".join(names[:12]) + (" …" if len(names) > 12 else "")))
