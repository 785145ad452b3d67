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


def show(row: Mapping[Hashable, Any], *, with_link: bool = True, spent: str = "") -> None:
    """Show one alert.

    Args:
        row: of `recent_alerts` or `run_alerts`.
        with_link: whether the way to the run's page is shown too.
        spent: what the run has spent so far, in words.
    """
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(_severity(str(row["severity"])), color=theme.severity_badge(row["severity"]))
            st.badge(_word(theme.pattern_label(row["pattern"])), color="gray")
            _state(row)
            st.caption(time_text(row["raised_at"]), width="content")
        st.text(text_of(row["message"]))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(_whose(row, spent), width="content")
            if with_link:
                run_link.show(str(row["run_id"]))


def _state(row: Mapping[Hashable, Any]) -> None:
    """Say whether the loop is open, was left, or went on until the run ended: that is no good end."""
    if pd.isna(row["resolved_at"]):
        st.badge(t("alert.open"), color="red")
    elif not pd.isna(row["until_the_end"]) and row["until_the_end"]:
        st.badge(t("alert.ended", time=time_text(row["resolved_at"])), color="gray")
    else:
        st.badge(t("alert.resolved", time=time_text(row["resolved_at"])), color="green")


def _whose(row: Mapping[Hashable, Any], spent: str) -> str:
    if "task" in row:
        parts = [t("alert.task", name=short(text_of(row["task"], t("wording.no_task")), 80))]
    else:
        parts = [t("alert.step", number=text_of(row["step"]).removesuffix(".0"))]
    parts += [t(f"alert.{name}", name=short(text_of(row[name]), 60)) for name in ("agent", "tool") if text_of(row[name], "")]
    if spent:
        parts.append(t("alert.spent", spent=spent))
    return ", ".join(parts)


def _severity(name: str) -> str:
    return t(f"severity.{name}") if has(f"severity.{name}") else _word(name)


def _word(text: str) -> str:
    """Leave of a name what means nothing to Markdown: badges read it."""
    return re.sub(r"[^\w .-]+|_", " ", text).strip()[:40] or t("alert.unnamed")
