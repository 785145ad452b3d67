"""What runs of a task take beside what they took before, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.language import t
from dashboard.wording import NOTHING, count, dollars, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable


def show(frame: pd.DataFrame) -> None:
    """Show rows of `task_change`."""
    table = pd.DataFrame(
        {
            t("overview.history_task"): [text_of(task) for task in frame["task"]],
            t("overview.history_change"): [_times(change) for change in frame["change"]],
            t("overview.history_runs"): frame["runs"],
            t("overview.history_before"): frame["runs_before"],
            **_pair(frame, "cost", dollars),
            **_pair(frame, "tokens", count),
            **_pair(frame, "steps", count),
        }
    )
    st.dataframe(table, hide_index=True, key="task_change")


def _pair(frame: pd.DataFrame, measure: str, written: Callable[[object], str]) -> dict[str, list[str]]:
    return {
        t(f"overview.history_{measure}"): [written(value) for value in frame[measure]],
        t(f"overview.history_{measure}_before"): [written(value) for value in frame[f"{measure}_before"]],
    }


def _times(change: object) -> str:
    """Write how many times as much it is: 1.8 times."""
    return NOTHING if number_of(change) is None else t("overview.times", n=count(change))
