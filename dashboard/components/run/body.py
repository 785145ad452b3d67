"""The body of a run's page: header, verdicts, timeline, one step in full, and the calls as a table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.components.run import call_table, raw_spans, step_view, steps, verdicts
from dashboard.components.run import header as run_header
from dashboard.components.run import timeline as run_timeline
from dashboard.language import t
from dashboard.questions import alerts as alert_questions
from dashboard.questions import run as questions
from dashboard.wording import inert, short, text_of, whole

if TYPE_CHECKING:
    import pandas as pd

REFRESH_SECONDS = 3


def show(run_id: str) -> None:
    """Show a run; one that is still going on is kept fresh."""
    header = questions.run_header(run_id)
    running = not header.is_usable or (len(header.frame) > 0 and header.frame["status"].iloc[0] == "running")
    st.fragment(partial(_body, run_id, running), run_every=REFRESH_SECONDS if running else None)()


def _body(run_id: str, was_running: bool) -> None:
    header = questions.run_header(run_id)
    notice.show(header)
    if not header.is_usable:
        return
    if header.frame.empty:
        _no_such_run(run_id)
        return
    run_header.show(header.frame)
    last_step = int(header.frame["last_step"].iloc[0])
    alerts = alert_questions.run_alerts(run_id)
    verdicts.show(run_id, alerts, flagged=bool(text_of(header.frame["flagged_reason"].iloc[0], "")))
    if last_step:
        _steps(run_id, last_step, alerts.frame)
        _export(run_id)
    else:
        st.info(t("run.only_asked" if header.frame["is_only_asked"].iloc[0] else "run.no_call_yet"))
    if was_running and header.is_ready and header.frame["status"].iloc[0] != "running":
        # It has ended in the meantime: the whole page runs once more and stops asking.
        st.rerun()


def _no_such_run(run_id: str) -> None:
    st.subheader(t("run.no_such_run"))
    st.text(t("run.no_such_run_text", run=inert(short(run_id, 200))))
    st.page_link("views/runs.py", label=t("run.all_runs"), icon=":material/search:")


def _steps(run_id: str, last_step: int, alerts: pd.DataFrame) -> None:
    step_key = steps.state_key(run_id)
    chosen = steps.chosen(run_id, last_step, alerts)
    block, first, last = steps.window(run_id, last_step, chosen)
    calls = questions.run_calls(run_id, first, last)
    signatures = questions.run_signatures(run_id)
    spent = questions.run_spend(run_id, first, last)
    notice.show(calls)
    if not calls.is_usable:
        return
    if calls.frame.empty:
        st.info(t("run.no_call_in_window"))
    else:
        if (calls.frame["content"] == "off").any():
            st.info(t("run.content_off_run"))
        if len(calls.frame) == questions.CALLS_PER_PAGE:
            st.caption(t("run.first_calls", n=whole(questions.CALLS_PER_PAGE)))
        run_timeline.show(
            calls.frame,
            alerts,
            signatures.frame,
            spent.frame,
            step_key=step_key,
            chosen=chosen,
            revision=f"{run_id} {block}",
        )
    st.subheader(t("run.step"))
    steps.navigation(run_id, last_step, chosen, steps.verdict_steps(alerts))
    step_view.show(run_id, chosen)
    raw_spans.show(run_id, chosen)
    if not calls.frame.empty:
        st.subheader(t("run.calls"))
        st.caption(t("run.calls_about"))
        call_table.show(calls.frame, step_key=step_key)


def _export(run_id: str) -> None:
    st.download_button(
        t("run.export"),
        partial(questions.exported, run_id),
        file_name="run.json",
        mime="application/json",
        icon=":material/download:",
        help=t("run.export_help"),
        on_click="ignore",
        key=f"export {run_id}",
    )
