"""Which run a page shows: the one in the address, or one that the reader picks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import theme
from dashboard.components import notice
from dashboard.filters import Filters
from dashboard.questions.runs import recent_runs
from dashboard.viewer import time_text
from dashboard.wording import inert, short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping


def show() -> str | None:
    """Let the reader choose among the recent runs; return the chosen run's id."""
    asked = st.query_params.get("run") or None
    recent = recent_runs(Filters())
    if not recent.is_usable and asked is None:
        notice.show(recent)
        return None
    labels = {str(row["run_id"]): _label(row) for row in recent.frame.to_dict("records")}
    if not labels and asked is None:
        notice.no_runs()
        return None
    options = list(labels) if asked is None or asked in labels else [asked, *labels]
    chosen = st.selectbox(
        "Run",
        options,
        index=None if asked is None else options.index(asked),
        format_func=lambda run_id: labels.get(run_id, inert(run_id)),
        placeholder="Choose one of the recent runs",
        # A key of its own for each address: following a link must show the linked run, whatever was chosen before.
        key=f"run_choice {asked}",
    )
    if chosen is not None and chosen != asked:
        st.query_params.from_dict({"run": chosen})
        st.rerun()
    return chosen


def has_options() -> bool:
    """Whether there is a run to choose."""
    return not recent_runs(Filters()).frame.empty


def _label(row: Mapping[Hashable, Any]) -> str:
    task = short(text_of(row["task"], "(no task)"), 60)
    reason = inert(theme.stop_reason_label(str(row["stop_reason"])))
    return f"{task}, {time_text(row['started_at'])}, {reason} [{short(inert(str(row['run_id'])), 16)}]"
