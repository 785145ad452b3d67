"""The body of a run's page: header, verdicts, timeline, calls, and one step in full."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import data
from dashboard.components import alert_card, notice
from dashboard.components.run import call_table, step_view
from dashboard.components.run import header as run_header
from dashboard.components.run import timeline as run_timeline
from dashboard.questions import alerts as alert_questions
from dashboard.questions import run as questions
from dashboard.wording import inert

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
        st.subheader("No such run")
        st.text(f"The database holds no run with the id {inert(run_id)}. It may be in another database.")
        return
    run_header.show(header.frame)
    last_step = int(header.frame["last_step"].iloc[0])
    alerts = alert_questions.run_alerts(run_id)
    _verdicts(alerts)
    if last_step:
        _steps(run_id, last_step, alerts.frame)
    else:
        st.info("No call of this run was recorded yet.")
    if was_running and header.is_ready and header.frame["status"].iloc[0] != "running":
        # It has ended in the meantime: the whole page runs once more and stops asking.
        st.rerun()


def _verdicts(alerts: data.Answer) -> None:
    notice.show(alerts)
    if not alerts.is_usable:
        return
    st.subheader("Verdicts")
    if alerts.frame.empty:
        st.caption("None: this run has not been seen going in circles.")
    for row in alerts.frame.tail(3).iloc[::-1].to_dict("records"):
        alert_card.show(row, with_link=False)
    if len(alerts.frame) > 3:
        with st.expander(f"{len(alerts.frame) - 3} earlier"):
            for row in alerts.frame.head(-3).iloc[::-1].to_dict("records"):
                alert_card.show(row, with_link=False)


def _steps(run_id: str, last_step: int, alerts: pd.DataFrame) -> None:
    step_key = f"step {run_id}"
    chosen = _first_choice(step_key, last_step, alerts)
    first, last = _window(run_id, last_step, chosen)
    calls = questions.run_calls(run_id, first, last)
    signatures = questions.run_signatures(run_id)
    notice.show(calls)
    if not calls.is_usable or calls.frame.empty:
        return
    if len(calls.frame) == questions.CALLS_PER_PAGE:
        st.caption(f"Only the first {questions.CALLS_PER_PAGE:,} calls of these steps are shown.")
    run_timeline.show(calls.frame, alerts, signatures.frame, step_key=step_key, chosen=chosen)
    st.subheader("Step")
    step = st.number_input("Number of the step to read", min_value=1, max_value=max(last_step, chosen), key=step_key, width=220)
    st.query_params["step"] = str(step)
    step_view.show(run_id, int(step))
    st.subheader("Calls")
    st.caption("In the order in which they ended; choose a row to read its step above.")
    call_table.show(calls.frame, step_key=step_key)


def _first_choice(step_key: str, last_step: int, alerts: pd.DataFrame) -> int:
    """Return the chosen step; at first the one in the address, else that of the first verdict, else the last."""
    if step_key not in st.session_state:
        asked = st.query_params.get("step", "")
        verdicts = [int(step) for step in alerts["step"].dropna()] if len(alerts) else []
        wanted = int(asked) if asked.isdecimal() else verdicts[0] if verdicts else last_step
        st.session_state[step_key] = min(max(wanted, 1), last_step)
    return int(st.session_state[step_key])


def _window(run_id: str, last_step: int, chosen: int) -> tuple[int, int]:
    """Let the reader page through a long run; return the first and the last step to read."""
    size = questions.STEPS_PER_PAGE
    if last_step <= size:
        return 1, last_step
    blocks = {0: (last_step - size + 1, last_step)} | {
        number: ((number - 1) * size + 1, number * size) for number in range((last_step - 1) // size, 0, -1)
    }
    at_first = 0 if chosen >= blocks[0][0] else (chosen - 1) // size + 1
    block = st.selectbox(
        "Steps on this page",
        list(blocks),
        index=list(blocks).index(at_first),
        format_func=lambda number: f"{'The last: ' if number == 0 else ''}{blocks[number][0]:,} to {blocks[number][1]:,}",
        key=f"block {run_id}",
        width=280,
    )
    return blocks[block]
