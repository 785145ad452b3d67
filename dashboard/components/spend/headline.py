"""The numbers that sum up what the chosen runs spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.language import counted, t
from dashboard.wording import NOTHING, count, dollars, number_of, percent, whole

if TYPE_CHECKING:
    from collections.abc import Callable


def show(groups: pd.DataFrame, models: pd.DataFrame) -> None:
    """Show what everything adds up to.

    Args:
        groups: rows of `spend_groups`.
        models: rows of `spend_calls` about models.
    """
    row = groups[groups["kind"] == "everything"].iloc[0]
    cached, of_input = (models[name].sum(min_count=1) for name in ("cache_read_tokens", "cache_input_tokens"))
    with st.container(horizontal=True, gap="small"):
        _number("cost", _money(row["cost"]))
        _number("wasted_cost", _with_share(row["wasted_cost"], row["cost"], _money))
        _number("input_tokens", count(row["input_tokens"]))
        _number("output_tokens", count(row["output_tokens"]))
        _number("wasted_tokens", _with_share(row["wasted_tokens"], row["tokens"], count))
        _number("cache_share", percent(cached, of_input))
        _number("unpriced", count(row["unpriced_calls"]))
        _number("no_usage", count(row["calls_without_usage"]))
    _left_out(row, int(models["calls_without_cache"].sum()))


def _left_out(row: pd.Series[Any], calls_without_cache: int) -> None:
    """Say what the numbers leave out: unknown is not nothing."""
    said = [
        counted(f"spend.{name}", int(str(number)))
        for name, number in (
            ("runs_without_cost", row["runs_without_cost"]),
            ("runs_without_usage", row["runs_without_usage"]),
            ("calls_without_cache", calls_without_cache),
        )
        if number
    ]
    if said:
        st.caption(" ".join(said))


def _with_share(part: object, every: object, written: Callable[[object], str]) -> str:
    share = percent(part, every)
    return written(part) if share == NOTHING else f"{written(part)} ({share})"


def _money(value: object) -> str:
    """Write an amount for a narrow place: without its cents where they matter no more."""
    amount = number_of(value)
    return f"${whole(amount)}" if amount is not None and amount >= 100 else dollars(value)


def _number(name: str, value: str) -> None:
    # As wide as two beside each other on a phone.
    st.metric(t(f"spend.{name}"), value, help=t(f"spend.{name}_help"), border=True, width=164)
