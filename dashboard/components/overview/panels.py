"""Why runs ended and where they stood still, each chart with one sentence on what it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.charts import base, endings
from dashboard.charts import streaks as streak_charts
from dashboard.components import notice
from dashboard.components.overview import streak_table
from dashboard.language import t
from dashboard.questions import overview

if TYPE_CHECKING:
    from dashboard.filters import Filters


def stop_reasons(filters: Filters) -> None:
    """Why runs ended."""
    st.subheader(t("overview.endings"))
    st.caption(t("overview.endings_about"))
    answer = overview.stop_reasons(filters)
    if notice.drawable(answer):
        st.plotly_chart(endings.stop_reasons(answer.frame), key="stop_reasons", config=base.CONFIG)


def stop_reasons_over_time(filters: Filters) -> None:
    """Why runs ended, as that changed."""
    st.subheader(t("overview.endings_over_time"))
    answer = overview.stop_reasons_over_time(filters)
    if notice.drawable(answer):
        unit = t(f"overview.unit_{answer.frame['unit'].iloc[0]}")
        st.caption(t("overview.endings_over_time_about", unit=unit))
        st.plotly_chart(endings.over_time(answer.frame), key="stop_reasons_over_time", config=base.CONFIG)


def streaks(filters: Filters) -> None:
    """How long runs stood still."""
    st.subheader(t("overview.streaks"))
    st.caption(t("overview.streaks_about"))
    answer = overview.streak_lengths(filters)
    if notice.drawable(answer, "overview.no_step"):
        figure = streak_charts.lengths(answer.frame, overview.LONGEST_STREAK_SHOWN)
        st.plotly_chart(figure, key="streak_lengths", config=base.CONFIG)


def longest_streaks(filters: Filters) -> None:
    """The runs that stood still longest."""
    st.subheader(t("overview.longest"))
    st.caption(t("overview.longest_about"))
    answer = overview.longest_streaks(filters)
    if notice.drawable(answer, "overview.no_flat_step"):
        streak_table.show(answer.frame)
