"""One alert as it is shown wherever it is told: how bad, what kind, when, over or not, and the sentence that it carries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.components import run_link
from dashboard.language import has, t
from dashboard.viewer import time_text
from dashboard.wording import short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping


def show(row: Mapping[Hashable, Any], *, with_link: bool = True) -> None:
    """Show one alert.

    Args:
        row: of `recent_alerts` or `run_alerts`.
        with_link: whether the way to the run's page is shown too.
    """
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            severity_badge(str(row["severity"]))
            pattern_badge(str(row["pattern"]))
            state_badge(row)
            st.caption(time_text(row["raised_at"]), width="content")
        st.text(text_of(row["message"]))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(whose(row), width="content")
            if with_link:
                run_link.show(str(row["run_id"]))


def severity_badge(name: str) -> None:
    """Say how bad it is."""
    st.badge(t(f"severity.{name}") if has(f"severity.{name}") else _word(name), color=theme.severity_badge(name))


def pattern_badge(name: str) -> None:
    """Say what kind of loop it is."""
    st.badge(_word(theme.pattern_label(name)), color="gray")


def state_badge(row: Mapping[Hashable, Any]) -> None:
    """Say whether the loop is open, was left, or went on until the run ended: that is no good end."""
    if pd.isna(row["resolved_at"]):
        st.badge(t("alert.open"), color="red")
    elif not pd.isna(row["until_the_end"]) and row["until_the_end"]:
        st.badge(t("alert.ended", time=time_text(row["resolved_at"])), color="gray")
    else:
        st.badge(t("alert.resolved", time=time_text(row["resolved_at"])), color="green")


def whose(row: Mapping[Hashable, Any]) -> str:
    """Return whose alert it is, in one line: its task or step, agent and tool."""
    if "task" in row:
        parts = [t("alert.task", name=short(text_of(row["task"], t("wording.no_task")), 80))]
    else:
        parts = [t("alert.step", number=text_of(row["step"]).removesuffix(".0"))]
    parts += [t(f"alert.{name}", name=short(text_of(row[name]), 60)) for name in ("agent", "tool") if text_of(row[name], "")]
    return ", ".join(parts)


def _word(text: str) -> str:
    """Leave of a name what means nothing to Markdown: badges read it."""
    return re.sub(r"[^\w .-]+|_", " ", text).strip()[:40] or t("alert.unnamed")
