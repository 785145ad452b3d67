"""The body of the page of thresholds: those in force, others to try, and what these would have flagged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.policy import form, outcome, stored, thresholds, which
from dashboard.language import t
from dashboard.questions import policy as questions
from otel_processor.policy import Policy

if TYPE_CHECKING:
    from dashboard.filters import Filters


def show(filters: Filters) -> None:
    """Show the thresholds that the chosen runs were judged by, and try others."""
    answer = questions.policies(filters)
    if not answer.is_usable:
        notice.show(answer)
        return
    notice.show(answer)
    known = stored.read(answer.frame)
    st.header(t("policy.in_force"))
    if known:
        chosen = which.show(known, is_cut=len(answer.frame) >= questions.POLICIES_SHOWN)
        thresholds.show(chosen)
    else:
        chosen = None
        st.info(t("notice.nothing_chosen"))
    st.header(t("policy.what_if"))
    st.caption(t("policy.what_if_about"))
    in_force = chosen.policy if chosen else None
    if in_force is None:
        st.info(t("policy.against_defaults"))
    form.show(in_force or Policy(), filters)
    outcome.show()
