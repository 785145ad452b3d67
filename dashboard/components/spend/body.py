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
    # By cost unless tokens are asked for, also where no cost turns out to be known: names come in the same order then.
    asked = measure.asked()
    models = questions.models(filters, asked)
    if not models.is_usable or models.frame.empty:
        _wait(filters, asked)
        return
    _numbers(filters, asked)
    by = measure.show(has_cost=bool(models.frame["cost"].notna().any()))
    if filters.models:
        st.caption(t("spend.models_chosen"))
    _over_time(filters, asked, by)
    _groups(filters, asked, by)
    _runs(filters, by)
    _prices(filters, asked)


@st.fragment(run_every=5)
def _wait(filters: Filters, asked: Measure) -> None:
    if notice.drawable(questions.models(filters, asked), "spend.nothing"):
        st.rerun()


@st.fragment(run_every=7)
def _numbers(filters: Filters, asked: Measure) -> None:
    groups, models = questions.groups(filters, asked), questions.models(filters, asked)
    notice.show(models)
    if groups.is_usable and models.is_usable:
        headline.show(groups.frame, models.frame)


@st.fragment(run_every=19)
def _over_time(filters: Filters, asked: Measure, by: Measure) -> None:
    panels.over_time(questions.over_time(filters, asked), by)


@st.fragment(run_every=17)
def _groups(filters: Filters, asked: Measure, by: Measure) -> None:
    groups = questions.groups(filters, asked)
    left, right = st.columns(2, gap="large")
    with left:
        panels.by_model(questions.models(filters, asked), by)
    with right:
        panels.by_group(groups, by, "task")
    left, right = st.columns(2, gap="large")
    with left:
        panels.by_group(groups, by, "agent")
    with right:
        panels.by_group(groups, by, "service")
    st.page_link("views/overview.py", label=t("spend.see_overview"), icon=":material/arrow_forward:")


@st.fragment(run_every=13)
def _runs(filters: Filters, by: Measure) -> None:
    st.subheader(t(f"spend.runs_{by}"))
    st.caption(t(f"spend.runs_{by}_about"))
    answer = questions.runs(filters, by)
    if notice.drawable(answer, f"spend.no_{by}"):
        run_table.show(answer.frame)


@st.fragment(run_every=23)
def _prices(filters: Filters, asked: Measure) -> None:
    models = questions.models(filters, asked)
    if not models.is_usable or models.frame.empty:
        return
    left, right = st.columns(2, gap="large")
    with left:
        sources.show(models.frame)
    with right:
        unpriced.show(models.frame)
