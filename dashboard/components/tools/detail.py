"""One tool: how its calls came out over time, which were repeated, which failed and how, which were slow, and who makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.charts import base
from dashboard.charts import tools as charts
from dashboard.components import notice
from dashboard.components.tools import detail_tables
from dashboard.language import t
from dashboard.questions import tools as questions

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from dashboard.data import Answer
    from dashboard.filters import Filters


def show(filters: Filters, tool: str) -> None:
    """Show one tool in detail.

    Args:
        filters: which runs.
        tool: its name as it stands in the store; empty for calls that name none.
    """
    over_time = questions.over_time(filters, tool)
    with st.container(border=True):
        if not notice.drawable(over_time, "tools.not_called"):
            return
        left, right = st.columns(2, gap="large")
        with left:
            st.subheader(t("tools.over_time"))
            st.caption(t("tools.over_time_about", unit=t(f"overview.unit_{over_time.frame['unit'].iloc[0]}")))
            st.plotly_chart(charts.over_time(over_time.frame), key="tool over time", config=base.CONFIG)
        with right:
            _part("callers", questions.callers(filters, tool), detail_tables.callers)
        _part("repeated_calls", questions.repeats(filters, tool), detail_tables.repeated_calls)
        _part("failures", questions.errors(filters, tool), detail_tables.failures)
        _part("slowest", questions.slowest(filters, tool), detail_tables.slowest)


def _part(name: str, answer: Answer, shown: Callable[[pd.DataFrame], None]) -> None:
    st.subheader(t(f"tools.{name}"))
    st.caption(t(f"tools.{name}_about"))
    if notice.drawable(answer, f"tools.no_{name}"):
        shown(answer.frame)
