"""The body of the page of spending: numbers, when and on what, the dearest runs, and what has no price."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.spend import headline, measure, panels, run_table, sources, unpriced
from dashboard.language import t
from dashboard.questions import spend as questions

if TYPE_CHECKING:
    from dashboard.charts.spend import Measure
    from dashboard.filters import Filters


def show(filters: Filters) -> None:
    """Show what the chosen runs spent."""
    models = questions.models(filters)
    if not models.is_usable or models.frame.empty:
        _wait(filters)
        return
    _numbers(filters)
    by = measure.show(has_cost=bool(models.frame["cost"].notna().any()))
    if filters.models:
        st.caption(t("spend.models_chosen"))
    _over_time(filters, by)
    _groups(filters, by)
    _runs(filters, by)
    _prices(filters)


@st.fragment(run_every=5)
def _wait(filters: Filters) -> None:
    if notice.drawable(questions.models(filters), "spend.nothing"):
        st.rerun()


@st.fragment(run_every=7)
def _numbers(filters: Filters) -> None:
    # Totals are the same whichever the measure: the answer that the charts read by default serves them too.
    groups, models = questions.groups(filters, "cost"), questions.models(filters)
    notice.show(models)
    if groups.is_usable and models.is_usable:
        headline.show(groups.frame, models.frame)


@st.fragment(run_every=19)
def _over_time(filters: Filters, by: Measure) -> None:
    panels.over_time(filters, by)


@st.fragment(run_every=17)
def _groups(filters: Filters, by: Measure) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        panels.by_model(filters, by)
    with right:
        panels.by_group(filters, by, "task")
    left, right = st.columns(2, gap="large")
    with left:
        panels.by_group(filters, by, "agent")
    with right:
        panels.by_group(filters, by, "service")
    st.page_link("views/overview.py", label=t("spend.see_overview"), icon=":material/arrow_forward:")


@st.fragment(run_every=13)
def _runs(filters: Filters, by: Measure) -> None:
    st.subheader(t("spend.runs"))
    st.caption(t(f"spend.runs_about_{by}"))
    answer = questions.runs(filters, by)
    if notice.drawable(answer, f"spend.no_{by}"):
        run_table.show(answer.frame)


@st.fragment(run_every=23)
def _prices(filters: Filters) -> None:
    models = questions.models(filters)
    if not models.is_usable or models.frame.empty:
        return
    left, right = st.columns(2, gap="large")
    with left:
        sources.show(models.frame)
    with right:
        unpriced.show(models.frame)
