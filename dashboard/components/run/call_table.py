"""The calls of a run as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.wording import count, duration, short, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_PROGRESS = {"True": "new", "False": "flat"}


def show(calls: pd.DataFrame, *, step_key: str) -> None:
    """Show the calls; choosing a row makes its step the chosen one."""
    steps = [int(step) for step in calls["step"]]
    key = f"calls {step_key}"
    st.dataframe(
        _table(calls),
        hide_index=True,
        key=key,
        on_select=lambda: _choose_selected(key, step_key, steps),
        selection_mode="single-row",
        column_config={
            "Step": st.column_config.NumberColumn(width="small"),
            "Arguments": st.column_config.TextColumn(width="medium"),
            "Result": st.column_config.TextColumn(width="medium"),
        },
    )


def _choose_selected(table_key: str, step_key: str, steps: list[int]) -> None:
    rows = st.session_state[table_key].selection.rows
    if rows and rows[0] < len(steps):
        st.session_state[step_key] = steps[rows[0]]


def _table(calls: pd.DataFrame) -> pd.DataFrame:
    is_tool = [kind == "tool" for kind in calls["kind"]]
    table = pd.DataFrame(
        {
            "Step": calls["step"],
            "Call": [
                short(text_of(tool if ours else model), 40)
                for ours, tool, model in zip(is_tool, calls["tool"], calls["model"], strict=True)
            ],
            "Agent": [short(text_of(agent, ""), 40) for agent in calls["agent"]],
            "Kind": calls["kind"],
            "Progress": _of_tools(is_tool, (_PROGRESS.get(text_of(value), "unknown") for value in calls["progress"])),
            "Times": _of_tools(is_tool, (count(value) for value in calls["repeats"])),
            "Flat in a row": _of_tools(is_tool, (count(value) for value in calls["flat_steps"])),
            "Error": [
                text_of(name, "error") if failed else ""
                for failed, name in zip(calls["is_error"], calls["error_class"], strict=True)
            ],
            "Took": [duration(start, end) for start, end in zip(calls["started_at"], calls["ended_at"], strict=True)],
            "Tokens in": [count(value) if not ours else "" for ours, value in zip(is_tool, calls["input_tokens"], strict=True)],
            "Tokens out": [count(value) if not ours else "" for ours, value in zip(is_tool, calls["output_tokens"], strict=True)],
            "Arguments": [short(text_of(value, ""), 120) for value in calls["arguments"]],
            "Result": [short(text_of(value, ""), 120) for value in calls["result"]],
            "Signature": [text_of(value, "")[:12] for value in calls["signature"]],
        }
    )
    return table if any(table["Agent"]) else table.drop(columns="Agent")


def _of_tools(is_tool: list[bool], texts: Iterable[str]) -> list[str]:
    """Leave empty for model calls what only a tool call can have."""
    return [text if ours else "" for ours, text in zip(is_tool, texts, strict=True)]
