"""The numbers that sum up the chosen runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.language import counted, t
from dashboard.wording import NOTHING, count, dollars, percent, unpriced

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


def show(totals: pd.DataFrame) -> None:
    """Show one row of `run_totals` as big numbers."""
    row = totals.iloc[0]
    unreported = int(row["runs_without_usage"])
    usage = f" {counted('headline.no_usage', unreported)}" if unreported else ""
    with st.container(horizontal=True, gap="small"):
        _number("runs", count(row["runs"]))
        _number("running", count(row["running"]))
        _number("looped", _with_share(row["flagged"], row["runs"]))
        _number("looped_well", _with_share(row["flagged_completed"], row["runs"]))
        _number("tokens", count(row["tokens"]), usage)
        _number("wasted_tokens", _with_share(row["wasted_tokens"], row["tokens"]), usage)
        _number("cost", dollars(row["cost_usd"]))
        _number("wasted_cost", _with_share(row["wasted_cost_usd"], row["cost_usd"], dollars))
    if left_out := unpriced(row["unpriced_calls"]):
        st.caption(t("headline.cost_left_out", what=left_out))


def _with_share(part: object, whole: object, written: Callable[[object], str] = count) -> str:
    share = percent(part, whole)
    return written(part) if share == NOTHING else f"{written(part)} ({share})"


def _number(name: str, value: str, more: str = "") -> None:
    # As wide as two beside each other on a phone.
    st.metric(t(f"headline.{name}"), value, help=t(f"headline.{name}_help") + more, border=True, width=172)
