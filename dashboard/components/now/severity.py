"""The choice of how bad an alert must be to be listed; it stands in the address."""

from __future__ import annotations

import streamlit as st

from dashboard.language import t
from dashboard.questions.alerts import SEVERITIES

_ALL = "all"
_IN_ADDRESS = "severity"


def choose() -> str | None:
    """Show the heading of the alerts with the choice beside it; return the severity that was chosen, None for all."""
    asked = st.query_params.get(_IN_ADDRESS, _ALL)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(t("now.alerts"), width="stretch")
        chosen = st.segmented_control(
            t("now.severity"),
            [_ALL, *SEVERITIES],
            default=asked if asked in SEVERITIES else _ALL,
            required=True,
            format_func=lambda name: t("now.any_severity") if name == _ALL else t(f"severity.{name}"),
            # Another language is another widget: its old one would keep the words that it was made with.
            key=f"severity {t('language.decimal')}",
            label_visibility="collapsed",
        )
    if chosen in SEVERITIES:
        st.query_params[_IN_ADDRESS] = str(chosen)
        return str(chosen)
    if _IN_ADDRESS in st.query_params:
        del st.query_params[_IN_ADDRESS]
    return None
