"""The alerts, newest first, kept fresh by themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import streamlit as st

from dashboard import data, theme
from dashboard.components import notice, run_link
from dashboard.viewer import time_text
from dashboard.wording import short, some, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

REFRESH_SECONDS = 1.5
"""An alert must be on the page within 3 seconds; the rest is for a busy database and a slow browser."""
_HEIGHT = 430
_FIT_WITHOUT_SCROLLING = 2


@st.fragment(run_every=REFRESH_SECONDS)
def show() -> None:
    """Show the newest alerts of all runs; asks again by itself, without running the page again."""
    answer = data.recent_alerts()
    st.subheader("Alerts")
    notice.show(answer)
    if not answer.is_usable:
        return
    if answer.frame.empty:
        st.info("No alerts: no run has been seen going in circles.")
        return
    alerts, still_open = int(answer.frame["alerts"].iloc[0]), int(answer.frame["open_alerts"].iloc[0])
    shown = "" if alerts <= len(answer.frame) else f"; the newest {len(answer.frame)} are listed"
    st.caption(f"{some(still_open, 'open alert')}, {some(alerts, 'alert')} in all{shown}.")
    height: int | Literal["content"] = _HEIGHT if len(answer.frame) > _FIT_WITHOUT_SCROLLING else "content"
    with st.container(height=height, border=False, key="alerts"):
        for row in answer.frame.to_dict("records"):
            show_one(row)


def show_one(row: Mapping[Hashable, Any], *, with_link: bool = True) -> None:
    """Show one alert: how bad, what kind, when, over or not, and the sentence that it carries."""
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(_word(row["severity"]), color=theme.severity_badge(row["severity"]))
            st.badge(_word(theme.pattern_label(row["pattern"])), color="gray")
            _state(row)
            st.caption(time_text(row["raised_at"]), width="content")
        st.text(text_of(row["message"]))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(_whose(row), width="content")
            if with_link:
                run_link.show(str(row["run_id"]))


def _state(row: Mapping[Hashable, Any]) -> None:
    """Say whether the loop is open, was left, or went on until the run ended: that is no good end."""
    if pd.isna(row["resolved_at"]):
        st.badge("open", color="red")
    elif not pd.isna(row["until_the_end"]) and row["until_the_end"]:
        st.badge(f"run ended {time_text(row['resolved_at'])}", color="gray")
    else:
        st.badge(f"resolved {time_text(row['resolved_at'])}", color="green")


def _whose(row: Mapping[Hashable, Any]) -> str:
    parts = [f"Task {short(text_of(row['task']), 80)}"] if "task" in row else [f"Step {text_of(row['step']).removesuffix('.0')}"]
    parts += [f"{name} {short(text_of(row[name]), 60)}" for name in ("agent", "tool") if text_of(row[name], "")]
    return ", ".join(parts)


def _word(text: str) -> str:
    """Leave of a name what means nothing to Markdown: badges read it."""
    return re.sub(r"[^A-Za-z0-9 .-]+", " ", text).strip()[:40] or "unnamed"
