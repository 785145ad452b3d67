"""Streaks of flat steps with the run that each belongs to."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.components import run_link
from dashboard.language import t
from dashboard.viewer import time_text
from dashboard.wording import text_of


def show(frame: pd.DataFrame) -> None:
    """Show rows of `longest_streaks`."""
    table = pd.DataFrame(
        {
            "run": [run_link.address(run_id) for run_id in frame["run_id"]],
            "streak": frame["streak"],
            "task": [text_of(task, t("wording.no_task")) for task in frame["task"]],
            "agent": [text_of(agent) for agent in frame["agent"]],
            "ended": [
                t("table.goes_on") if still_open else time_text(ended)
                for still_open, ended in zip(frame["still_open"], frame["ended_at"], strict=True)
            ],
        }
    )
    columns = {
        "run": run_link.column(),
        "streak": st.column_config.NumberColumn(t("table.flat_steps"), width="small"),
        **{name: t(f"table.{name}") for name in ("task", "agent", "ended")},
    }
    st.dataframe(table, hide_index=True, key="longest_streaks", column_config=columns)
