"""The last 24 hours in two lines: how many runs, how many looped, what it cost, and why they stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.now import reasons_bar
from dashboard.language import counted, t
from dashboard.questions import now as questions
from dashboard.wording import NOTHING, count, dollars

if TYPE_CHECKING:
    import pandas as pd

    from dashboard.filters import Filters


def show(filters: Filters) -> None:
    """Show what the last day added up to, with the way to the overview of it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{t('now.last_day')}**", width="content")
        st.page_link(
            "views/overview.py",
            label=t("now.to_overview"),
            icon=":material/arrow_forward:",
            query_params=questions.last_day(filters).to_address(),
        )
    totals = questions.last_day_totals(filters)
    reasons = questions.last_day_reasons(filters)
    if not totals.is_usable or not reasons.is_usable:
        # The numbers beside it say what is wrong with the database.
        return
    if reasons.frame.empty:
        st.text(t("now.quiet_day"))
        return
    st.text(_sentence(totals.frame))
    st.html(reasons_bar.markup(reasons.frame))
    if not totals.is_ready:
        notice.show(totals)


def _sentence(frame: pd.DataFrame) -> str:
    row = frame.iloc[0]
    parts = [counted("wording.runs", int(row["runs"])), t("now.looped", n=count(row["flagged"]))]
    cost, tokens = dollars(row["cost_usd"]), count(row["tokens"])
    if cost != NOTHING:
        wasted = dollars(row["wasted_cost_usd"])
        parts.append(t("now.spent", spent=cost, wasted=wasted) if wasted != NOTHING else cost)
    elif tokens != NOTHING:
        wasted = count(row["wasted_tokens"])
        parts.append(t("now.spent_tokens", spent=tokens, wasted=wasted) if wasted != NOTHING else t("now.tokens", n=tokens))
    return ", ".join(parts)
