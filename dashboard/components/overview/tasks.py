"""What runs of each task take, each chart with one sentence on what it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

from dashboard.charts import base
from dashboard.charts import tasks as charts
from dashboard.components import notice
from dashboard.components.overview import change_table
from dashboard.language import t
from dashboard.questions import overview

if TYPE_CHECKING:
    from dashboard.filters import Filters

_NONE = {"tokens": "overview.no_usage", "cost": "overview.no_cost", "steps": "overview.no_step"}


def spread(filters: Filters, measure: Literal["tokens", "cost", "steps"]) -> None:
    """What one run of each task takes, as a distribution."""
    st.subheader(t(f"overview.{measure}_per_task"))
    st.caption(t(f"overview.{measure}_per_task_about"))
    answer = overview.task_spread(filters)
    if not notice.drawable(answer):
        return
    if answer.frame[f"{measure}_median"].notna().any():
        st.plotly_chart(charts.spread(answer.frame, measure), key=f"{measure}_per_task", config=base.CONFIG)
    else:
        st.info(t(_NONE[measure]))


def repeats(filters: Filters) -> None:
    """How much of what each task calls was called before."""
    _share(filters, "repeats", "repeated_share", "overview.no_signatures", "overview.share_axis")


def flat_steps(filters: Filters) -> None:
    """How much of what each task does brings nothing new."""
    _share(filters, "flat_steps", "flat_share", "overview.no_flat_step", "overview.flat_axis")


def _share(filters: Filters, name: str, column: str, otherwise: str, axis: str) -> None:
    st.subheader(t(f"overview.{name}"))
    st.caption(t(f"overview.{name}_about"))
    answer = overview.task_shares(filters)
    if not notice.drawable(answer):
        return
    if answer.frame[column].notna().any():
        st.plotly_chart(charts.shares(answer.frame, column, t(axis)), key=name, config=base.CONFIG)
    else:
        st.info(t(otherwise))


def history(filters: Filters) -> None:
    """Which task takes more than it used to."""
    st.subheader(t("overview.history"))
    st.caption(t("overview.history_about"))
    answer = overview.task_history(filters)
    notice.show(answer)
    if answer.is_usable and answer.frame.empty:
        st.info(t("overview.no_history", n=overview.HEALTHY_RUNS_NEEDED))
    elif answer.is_usable:
        change_table.show(answer.frame)
