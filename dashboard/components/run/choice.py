"""Which run a page shows: the one in the address, or one that the reader picks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import theme
from dashboard.components import notice
from dashboard.filters import Filters
from dashboard.language import t
from dashboard.questions.runs import recent_runs
from dashboard.viewer import time_text
from dashboard.wording import inert, option, short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping


def show() -> str | None:
    """Return the id of the run in the address; where there is none, let the reader choose one of the recent runs."""
    asked = st.query_params.get("run") or None
    if asked is not None:
        return asked
    recent = recent_runs(Filters())
    notice.show(recent)
    if not recent.is_usable:
        return None
    if recent.frame.empty:
        notice.no_runs()
        return None
    labels = {str(row["run_id"]): _label(row) for row in recent.frame.to_dict("records")}
    chosen = st.selectbox(
        t("run.choose"),
        list(labels),
        index=None,
        format_func=lambda run_id: labels.get(run_id, inert(run_id)),
        placeholder=t("run.choose_hint", n=len(labels)),
        key="run_choice",
    )
    st.page_link("views/runs.py", label=t("run.all_runs"), icon=":material/search:")
    if chosen is not None:
        st.query_params["run"] = chosen
        st.query_params.pop("step", None)
        st.rerun()
    return None


def _label(row: Mapping[Hashable, Any]) -> str:
    task = short(text_of(row["task"], t("wording.no_task")), 60)
    reason = inert(theme.stop_reason_label(str(row["stop_reason"])))
    return f"{task}, {time_text(row['started_at'])}, {reason} [{option(str(row['run_id']), 40)}]"
