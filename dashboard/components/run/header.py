"""What a run was, at a glance, and the way to its like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import theme
from dashboard.components.runs.table import status_word
from dashboard.language import counted, t
from dashboard.viewer import time_text
from dashboard.wording import NOTHING, count, dollars, duration, inert, percent, text_of, unpriced, whole

if TYPE_CHECKING:
    import pandas as pd


def show(header: pd.DataFrame) -> None:
    """Show one row of `run_header`."""
    row = header.iloc[0]
    _words(row)
    numbers = {
        t("table.steps"): whole(row["steps"]),
        t("run.longest_streak"): whole(row["longest_flat_streak"]),
        t("run.tool_calls"): whole(row["tool_calls"]),
        t("run.repeated_calls"): percent(row["repeated_signature_rate"], 1),
        t("table.tokens"): count(row["tokens"]),
        t("headline.wasted_tokens"): _with_share(row["wasted_tokens"], row["tokens"]),
        t("table.cost"): dollars(row["cost_usd"]),
        t("headline.wasted_cost"): dollars(row["wasted_cost_usd"]),
    }
    with st.container(horizontal=True, gap="small"):
        for label, value in numbers.items():
            # As wide as two beside each other on a phone.
            st.metric(label, value, width=164, border=True)
    left_out = [unpriced(row["unpriced_calls"])]
    if int(row["calls_without_usage"]):
        left_out.append(counted("run.without_usage", int(row["calls_without_usage"])))
    if any(left_out):
        st.caption(t("headline.cost_left_out", what=" ".join(filter(None, left_out))))
    _links(row)


def _words(row: pd.Series[Any]) -> None:
    running = row["status"] == "running"
    took = duration(row["started_at"], row["last_seen_at"] if running else row["ended_at"])
    flagged = text_of(row["flagged_reason"], "")
    started = t("run.started_running" if running else "run.started_ended", time=time_text(row["started_at"]), took=took)
    facts = {
        t("table.task"): text_of(row["task"], t("wording.no_task")),
        t("table.agent"): text_of(row["agent"]),
        t("runs.status"): status_word(row["status"]),
        t("table.stop_reason"): _both(theme.stop_reason_label, text_of(row["stop_reason"])),
        t("table.verdict"): _both(theme.verdict_label, flagged) if flagged else t("run.no_verdict"),
        t("table.started"): started,
        t("run.models"): text_of(row["model"]),
        t("run.id"): text_of(row["run_id"]),
    }
    with st.container(horizontal=True, gap="medium"):
        for label, value in facts.items():
            with st.container(width="content", gap=None):
                st.caption(label)
                st.text(inert(value))


def _links(row: pd.Series[Any]) -> None:
    with st.container(horizontal=True, gap="medium"):
        task = text_of(row["task_key"], "")
        if task:
            st.page_link(
                "views/runs.py", label=t("run.same_task"), icon=":material/list:", query_params={"task": task}, width="content"
            )
        st.page_link("views/runs.py", label=t("run.all_runs"), icon=":material/search:", width="content")


def _with_share(part: object, of: object) -> str:
    share = percent(part, of)
    return count(part) if share == NOTHING else f"{count(part)} ({share})"


def _both(label: Any, name: str) -> str:
    """Say it in words and, where that differs, by the name that queries use."""
    words = label(name)
    return name if words == name else f"{words} ({name})"
