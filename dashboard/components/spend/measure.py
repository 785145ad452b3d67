"""Whether the charts are of cost or of tokens; a choice stands in the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.language import t

if TYPE_CHECKING:
    from dashboard.charts.spend import Measure

_NAME = "by"


def show(*, has_cost: bool) -> Measure:
    """Let the reader choose; return the choice, by default cost, and tokens where no cost is known at all."""
    default: Measure = "cost" if has_cost else "tokens"
    asked = st.query_params.get(_NAME)
    now: Measure = "cost" if asked == "cost" else "tokens" if asked == "tokens" else default
    # A key of its own for each address: a link must not lose to what was chosen before it.
    chosen = st.segmented_control(
        t("spend.measure"),
        ["cost", "tokens"],
        default=now,
        required=True,
        format_func=lambda name: t(f"spend.by_{name}"),
        key=f"by {now} {t('language.decimal')}",
        help=None if has_cost else t("spend.no_cost"),
    )
    if chosen and chosen != now:
        st.query_params[_NAME] = chosen
        st.rerun()
    return now
