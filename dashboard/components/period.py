"""The choice of how far back to look; it stands in the address, so that a link shows the same."""

from __future__ import annotations

import streamlit as st

_HOURS = {"1h": 1, "24h": 24, "7d": 168, "all": None}
_LABELS = {"1h": "1 hour", "24h": "24 hours", "7d": "7 days", "all": "All"}


def show() -> int | None:
    """Let the reader choose a period; return its hours, None for everything."""
    asked = st.query_params.get("period", "all")
    chosen = st.segmented_control(
        "Runs seen in the last",
        list(_HOURS),
        default=asked if asked in _HOURS else "all",
        format_func=_LABELS.__getitem__,
        key="period",
    )
    period = chosen or "all"
    if period != asked:
        st.query_params["period"] = period
    return _HOURS[period]
