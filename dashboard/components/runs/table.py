"""One page of runs as a table; choosing a row opens the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.components import run_link
from dashboard.language import has, t
from dashboard.viewer import time_text
from dashboard.wording import NOTHING, count, dollars, duration, inert, percent, text_of

if TYPE_CHECKING:
    from typing import Any


def show(frame: pd.DataFrame, *, key: str) -> None:
    """Show rows of `runs_page`.

    Args:
        frame: the rows.
        key: a new one for each page, so that a choice does not stay with the place of its row.
    """
    chosen: Any = st.dataframe(
        _table(frame),
        hide_index=True,
        key=key,
        placeholder=NOTHING,
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        column_config=_columns(),
        height=38 + 35 * min(len(frame), 50),
    )
    # The cell of the link leads there by itself.
    rows = [*chosen.selection.rows, *(row for row, column in chosen.selection.cells if column != "run")]
    if rows and rows[0] < len(frame):
        st.switch_page("views/run.py", query_params={"run": str(frame["run_id"].iloc[rows[0]])})


def _table(frame: pd.DataFrame) -> pd.DataFrame:
    left_out = [int(calls) for calls in frame["unpriced_calls"]]
    return pd.DataFrame(
        {
            "run": [run_link.address(run_id) for run_id in frame["run_id"]],
            "task": [text_of(task, t("wording.no_task")) for task in frame["task"]],
            "verdict": [inert(theme.verdict_label(text_of(reason, ""))) for reason in frame["flagged_reason"]],
            "stop_reason": [inert(theme.stop_reason_label(reason)) for reason in frame["stop_reason"]],
            "steps": frame["steps"].astype("Int64"),
            "streak": frame["longest_flat_streak"].astype("Int64"),
            "repeats": [percent(rate, 1) for rate in frame["repeated_signature_rate"]],
            "tokens": [count(tokens) for tokens in frame["tokens"]],
            "cost": [_at_least(amount, calls) for amount, calls in zip(frame["cost_usd"], left_out, strict=True)],
            "wasted_cost": [dollars(amount) for amount in frame["wasted_cost_usd"]],
            "status": [status_word(status) for status in frame["status"]],
            "agent": [text_of(agent) for agent in frame["agent"]],
            "started": [time_text(value) for value in frame["started_at"]],
            "took": [
                duration(start, seen if pd.isna(end) else end)
                for start, end, seen in zip(frame["started_at"], frame["ended_at"], frame["last_seen_at"], strict=True)
            ],
        }
    )


def _columns() -> dict[str, Any]:
    named = {
        name: t(f"table.{name}") for name in ("task", "agent", "stop_reason", "verdict", "started", "took", "tokens", "cost")
    }
    return {
        # Narrow ones leave room for the last column at 1280 pixels: runs are often sorted by it.
        "run": st.column_config.LinkColumn(t("table.run"), display_text=t("table.open"), width=58),
        **named,
        "status": t("runs.status"),
        "steps": st.column_config.NumberColumn(t("table.steps"), width=58),
        "streak": st.column_config.NumberColumn(t("table.streak"), width=62, help=t("runs.streak_help")),
        "took": st.column_config.TextColumn(t("table.took"), alignment="right"),
        "repeats": st.column_config.TextColumn(t("runs.repeats"), alignment="right", help=t("runs.repeats_help")),
        "tokens": st.column_config.TextColumn(t("table.tokens"), alignment="right"),
        "cost": st.column_config.TextColumn(t("table.cost"), alignment="right", help=t("runs.cost_help")),
        "wasted_cost": st.column_config.TextColumn(t("runs.wasted_cost"), alignment="right", help=t("headline.wasted_cost_help")),
    }


def status_word(status: object) -> str:
    """Return what a status is called in front of people, its own name if it is not known."""
    name = text_of(status)
    return t(f"run_status.{name}") if has(f"run_status.{name}") else inert(name)


def _at_least(amount: object, unpriced_calls: int) -> str:
    """Write a cost, with a mark where calls without a known price are left out of it."""
    written = dollars(amount)
    return f"≥ {written}" if unpriced_calls and written != NOTHING else written
