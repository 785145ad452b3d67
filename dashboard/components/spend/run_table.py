"""The runs that spent most, as a table that leads to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.components import run_link
from dashboard.language import t
from dashboard.viewer import time_text
from dashboard.wording import NOTHING, count, dollars, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Callable


def show(frame: pd.DataFrame) -> None:
    """Show rows of `spend_runs`."""
    table = pd.DataFrame(
        {
            "run": [run_link.address(run_id) for run_id in frame["run_id"]],
            "task": [text_of(task, t("wording.no_task")) for task in frame["task"]],
            "agent": [text_of(agent) for agent in frame["agent"]],
            "cost": frame["cost_usd"].astype(float),
            "wasted_cost": frame["wasted_cost_usd"].astype(float),
            "tokens": frame["tokens"].astype("Int64"),
            "wasted_tokens": frame["wasted_tokens"].astype("Int64"),
            "steps": frame["steps"].astype("Int64"),
            "unpriced": frame["unpriced_calls"],
            "stop_reason": [theme.stop_reason_label(reason) for reason in frame["stop_reason"]],
            "started": [time_text(value) for value in frame["started_at"]],
        }
    )
    # What is sorted by are the numbers, what is read is the text.
    written: dict[Any, str | Callable[[object], str] | None] = {
        **dict.fromkeys(("cost", "wasted_cost"), dollars),
        **dict.fromkeys(("tokens", "wasted_tokens"), count),
        **dict.fromkeys(("steps", "unpriced"), whole),
    }
    numbers = {
        "cost": "table.cost",
        "wasted_cost": "spend.wasted_cost",
        "tokens": "table.tokens",
        "wasted_tokens": "spend.wasted_tokens",
        "steps": "table.steps",
        "unpriced": "spend.unpriced",
    }
    st.dataframe(
        table.style.format(written),
        hide_index=True,
        key="dearest_runs",
        placeholder=NOTHING,
        column_config={
            "run": run_link.column(),
            **{name: st.column_config.NumberColumn(t(key)) for name, key in numbers.items()},
            **{name: t(f"table.{name}") for name in ("task", "agent", "stop_reason", "started")},
        },
    )
