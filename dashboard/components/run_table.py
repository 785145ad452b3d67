"""Tables whose rows lead to runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.components import run_link
from dashboard.viewer import time_text
from dashboard.wording import count, duration, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Columns = dict[str, Any]

_LINK = st.column_config.LinkColumn("Run", display_text="Open", width="small")


def runs(frame: pd.DataFrame) -> None:
    """Show runs: what they were for, how they ended, what they took."""
    table = pd.DataFrame(
        {
            "run": [run_link.address(run_id) for run_id in frame["run_id"]],
            "task": _texts(frame["task"]),
            "agent": _texts(frame["agent"]),
            "started": [time_text(value) for value in frame["started_at"]],
            "took": [
                duration(start, seen if pd.isna(end) else end)
                for start, end, seen in zip(frame["started_at"], frame["ended_at"], frame["last_seen_at"], strict=True)
            ],
            "ended": [theme.stop_reason_label(reason) for reason in frame["stop_reason"]],
            "verdict": [theme.verdict_label(text_of(reason, "")) for reason in frame["flagged_reason"]],
            "steps": frame["steps"],
            "streak": frame["longest_flat_streak"],
            "tokens": [count(tokens) for tokens in frame["tokens"]],
            "wasted": [count(tokens) for tokens in frame["wasted_tokens"]],
        }
    )
    _show(
        table,
        {
            "task": "Task",
            "agent": "Agent",
            "started": "Started",
            "took": "Took",
            "ended": "Stop reason",
            "verdict": "Loop verdict",
            "steps": st.column_config.NumberColumn("Steps", width="small"),
            "streak": st.column_config.NumberColumn("Streak", width="small"),
            "tokens": "Tokens",
            "wasted": "Wasted",
        },
        key="recent_runs",
    )


def streaks(frame: pd.DataFrame) -> None:
    """Show streaks of flat steps with the run that each belongs to."""
    table = pd.DataFrame(
        {
            "run": [run_link.address(run_id) for run_id in frame["run_id"]],
            "streak": frame["streak"],
            "task": _texts(frame["task"]),
            "agent": _texts(frame["agent"]),
            "ended": [
                "goes on" if still_open else time_text(ended)
                for still_open, ended in zip(frame["still_open"], frame["ended_at"], strict=True)
            ],
        }
    )
    columns: Columns = {
        "streak": st.column_config.NumberColumn("Flat steps", width="small"),
        "task": "Task",
        "agent": "Agent",
        "ended": "Ended",
    }
    _show(table, columns, key="longest_streaks")


def _texts(values: Iterable[object]) -> list[str]:
    return [text_of(value) for value in values]


def _show(table: pd.DataFrame, columns: Columns, *, key: str) -> None:
    st.dataframe(table, hide_index=True, key=key, column_config={"run": _LINK, **columns})
