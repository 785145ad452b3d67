"""The calls of a run as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.language import t
from dashboard.wording import count, duration, short, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def show(calls: pd.DataFrame, *, step_key: str) -> None:
    """Show the calls; choosing a row makes its step the chosen one."""
    steps = [int(step) for step in calls["step"]]
    key = f"calls {step_key}"
    named = ("call", "kind", "progress", "times", "flat", "error", "tokens_in", "tokens_out", "signature")
    st.dataframe(
        _table(calls),
        hide_index=True,
        key=key,
        on_select=lambda: _choose_selected(key, step_key, steps),
        selection_mode="single-row",
        column_config={
            "step": st.column_config.NumberColumn(t("run.step"), width="small"),
            "agent": t("table.agent"),
            "took": t("table.took"),
            **{name: t(f"run.column_{name}") for name in named},
            "arguments": st.column_config.TextColumn(t("run.arguments"), width="medium"),
            "result": st.column_config.TextColumn(t("run.result"), width="medium"),
        },
    )


def _choose_selected(table_key: str, step_key: str, steps: list[int]) -> None:
    rows = st.session_state[table_key].selection.rows
    if rows and rows[0] < len(steps):
        st.session_state[step_key] = steps[rows[0]]


def _table(calls: pd.DataFrame) -> pd.DataFrame:
    is_tool = [kind == "tool" for kind in calls["kind"]]
    # Once for all rows: there may be thousands.
    progress = {"True": t("run.column_new"), "False": t("run.column_flat_word"), "": t("run.column_unknown")}
    tool_word, model_word, error_word = t("run.kind_tool"), t("run.kind_model"), t("run.error")
    table = pd.DataFrame(
        {
            "step": calls["step"],
            "call": [
                short(text_of(tool if ours else model), 40)
                for ours, tool, model in zip(is_tool, calls["tool"], calls["model"], strict=True)
            ],
            "agent": [short(text_of(agent, ""), 40) for agent in calls["agent"]],
            "kind": [tool_word if ours else model_word for ours in is_tool],
            "progress": _of_tools(is_tool, (progress[text_of(value, "")] for value in calls["progress"])),
            "times": _of_tools(is_tool, (count(value) for value in calls["repeats"])),
            "flat": _of_tools(is_tool, (count(value) for value in calls["flat_steps"])),
            "error": [
                text_of(name, error_word) if failed else ""
                for failed, name in zip(calls["is_error"], calls["error_class"], strict=True)
            ],
            "took": [duration(start, end) for start, end in zip(calls["started_at"], calls["ended_at"], strict=True)],
            "tokens_in": [count(value) if not ours else "" for ours, value in zip(is_tool, calls["input_tokens"], strict=True)],
            "tokens_out": [count(value) if not ours else "" for ours, value in zip(is_tool, calls["output_tokens"], strict=True)],
            "arguments": [short(text_of(value, ""), 120) for value in calls["arguments"]],
            "result": [short(text_of(value, ""), 120) for value in calls["result"]],
            "signature": [text_of(value, "")[:12] for value in calls["signature"]],
        }
    )
    return table if any(table["agent"]) else table.drop(columns="agent")


def _of_tools(is_tool: list[bool], texts: Iterable[str]) -> list[str]:
    """Leave empty for model calls what only a tool call can have."""
    return [text if ours else "" for ours, text in zip(is_tool, texts, strict=True)]
