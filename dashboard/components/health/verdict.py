"""What is wrong, as sentences with a remedy; or that nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import alert_words
from dashboard.language import counted, t

if TYPE_CHECKING:
    from dashboard.components.health.problems import Problem


def show(problems: list[Problem]) -> None:
    """Show each problem with what to do about it; a good word where there is none."""
    if not problems:
        st.success(t("health.all_well"))
    for problem in problems:
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="top", gap="small"):
                st.markdown(alert_words.severity_badge(problem.severity), width="content")
                # What others wrote may be in it: text, and no Markdown.
                st.text(_sentence(problem), width="stretch")
            st.caption(t(f"health.{problem.name}_remedy"))


def _sentence(problem: Problem) -> str:
    key = f"health.{problem.name}"
    return t(key, **problem.values) if problem.number is None else counted(key, problem.number, **problem.values)
