"""The numbers that sum up a period."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.wording import NOTHING, count, dollars, percent, some, unpriced

if TYPE_CHECKING:
    import pandas as pd


def show(totals: pd.DataFrame) -> None:
    """Show one row of totals as big numbers."""
    row = totals.iloc[0]
    unreported = int(row["runs_without_usage"])
    usage = f" {some(unreported, 'run')} reported no usage and count for nothing here." if unreported else ""
    with st.container(horizontal=True, gap="small"):
        _number("Runs", count(row["runs"]), "Runs of which something was seen in the chosen period.")
        _number("Running", count(row["running"]), "Runs that have not ended.")
        _number(
            "Looped",
            _with_share(row["flagged"], row["runs"]),
            "Runs that a loop verdict was given on, however they ended.",
        )
        _number("Tokens", count(row["tokens"]), f"Input and output of all model calls.{usage}")
        _number(
            "Wasted tokens",
            _with_share(row["wasted_tokens"], row["tokens"]),
            f"Tokens of steps in which no tool call brought anything new.{usage}",
        )
        _number(
            "Cost",
            dollars(row["cost_usd"]),
            "As the model calls report it, else by your prices or the price list; a dash when nobody knows.",
        )
    if left_out := unpriced(row["unpriced_calls"]):
        st.caption(f"Cost: {left_out}")


def _with_share(part: object, whole: object) -> str:
    share = percent(part, whole)
    return count(part) if share == NOTHING else f"{count(part)} ({share})"


def _number(label: str, value: str, meaning: str) -> None:
    # Two beside each other on a phone, and on a wide screen beside the alerts.
    st.metric(label, value, help=meaning, border=True, width=164)
