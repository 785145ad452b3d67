"""Whether the charts are of cost or of tokens; a choice stands in the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.language import t

if TYPE_CHECKING:
    from dashboard.charts.spend import Measure

_NAME = "by"


def asked() -> Measure:
    """Return what the address asks for; cost where it asks for nothing."""
    return "tokens" if st.query_params.get(_NAME) == "tokens" else "cost"


def show(*, has_cost: bool) -> Measure:
    """Let the reader choose; return the choice, by default cost, and tokens where no cost is known at all."""
    now: Measure = asked() if has_cost or st.query_params.get(_NAME) == "cost" else "tokens"
    # A key of its own for each address: a link must not lose to what was chosen before it.
    chosen = st.segmented_control(
        t("spend.measure"),
        ["cost", "tokens"],
        default=now,
        required=True,
        format_func=lambda name: t(f"spend.by_{name}"),
        key=f"by {now} {t('language.decimal')}",
    )
    if chosen and chosen != now:
        st.query_params[_NAME] = chosen
        st.rerun()
    return now
