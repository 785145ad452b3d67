"""What a run was, at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import theme
from dashboard.viewer import time_text
from dashboard.wording import count, dollars, duration, inert, percent, text_of, unpriced

if TYPE_CHECKING:
    import pandas as pd


def show(header: pd.DataFrame) -> None:
    """Show one row of `run_header`."""
    row = header.iloc[0]
    _words(row)
    numbers = {
        "Steps": count(row["steps"]),
        "Longest flat streak": count(row["longest_flat_streak"]),
        "Tool calls": count(row["tool_calls"]),
        "Repeated calls": percent(row["repeated_signature_rate"], 1),
        "Tokens": count(row["tokens"]),
        "Wasted tokens": count(row["wasted_tokens"]),
        "Cost": dollars(row["cost_usd"]),
    }
    with st.container(horizontal=True, gap="small"):
        for label, value in numbers.items():
            st.metric(label, value, width=156, border=True)
    if left_out := unpriced(row["unpriced_calls"]):
        st.caption(f"Cost: {left_out}")


def _words(row: pd.Series[Any]) -> None:
    running = row["status"] == "running"
    took = duration(row["started_at"], row["last_seen_at"] if running else row["ended_at"])
    flagged = text_of(row["flagged_reason"], "")
    facts = {
        "Task": text_of(row["task"], "(no task)"),
        "Agent": text_of(row["agent"]),
        "Status": text_of(row["status"]),
        "Stop reason": _both(theme.stop_reason_label, text_of(row["stop_reason"])),
        "Loop verdict": _both(theme.verdict_label, flagged) if flagged else "none",
        "Started": f"{time_text(row['started_at'])}, {'so far' if running else 'took'} {took}",
    }
    with st.container(horizontal=True, gap="medium"):
        for label, value in facts.items():
            with st.container(width="content", gap=None):
                st.caption(label)
                st.text(inert(value))


def _both(label: Any, name: str) -> str:
    """Say it in words and, where that differs, by the name that queries use."""
    words = label(name)
    return name if words == name else f"{words} ({name})"
