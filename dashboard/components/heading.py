"""The head of a page: what it is called, what it answers, and the choice of the language."""

from __future__ import annotations

import streamlit as st

from dashboard import language
from dashboard.language import t


def show(page: str) -> None:
    """Show the head of a page.

    Args:
        page: its section in the catalogue; `page.NAME` is its title and `NAME.about` says what it is for.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(t(f"page.{page}"), width="stretch")
        _language()
    if language.has(f"{page}.about"):
        st.caption(t(f"{page}.about"))


def _language() -> None:
    now = language.current().code
    chosen = st.segmented_control(
        t("language.label"),
        list(language.LANGUAGES),
        default=now,
        required=True,
        format_func=str.upper,
        key=f"language {now}",
        label_visibility="collapsed",
        help=" / ".join(language.LANGUAGES.values()),
    )
    if chosen and chosen != now:
        language.choose(chosen)
        st.query_params["lang"] = chosen
        st.rerun()
