"""The charts of the overview, each with one sentence on what it counts."""

from __future__ import annotations

import streamlit as st

from dashboard import charts, data
from dashboard.components import notice, run_table
from dashboard.wording import some


def stop_reasons(hours: int | None) -> None:
    """Why runs ended."""
    st.subheader("Why runs ended")
    st.caption("Runs by stop reason, running ones included; hatched: a loop verdict was given on the run, however it ended.")
    answer = data.stop_reasons(hours)
    if _drawable(answer):
        st.plotly_chart(charts.stop_reasons(answer.frame), key="stop_reasons", config=charts.CONFIG)


def streaks(hours: int | None) -> None:
    """How long runs stood still."""
    st.subheader("Steps without progress")
    st.caption("Runs by their longest streak of flat steps: steps in a row whose tool calls brought nothing new.")
    answer = data.streak_lengths(hours)
    if _drawable(answer):
        st.plotly_chart(
            charts.streak_lengths(answer.frame, data.LONGEST_STREAK_SHOWN), key="streak_lengths", config=charts.CONFIG
        )


def longest_streaks(hours: int | None) -> None:
    """The runs that stood still longest."""
    st.subheader("Longest streaks")
    st.caption("The runs that stood still longest, each with its longest streak of flat steps.")
    answer = data.longest_streaks(hours)
    if _drawable(answer, "No flat step was seen."):
        run_table.streaks(answer.frame)


def tokens_per_task(hours: int | None) -> None:
    """What runs of each task cost in tokens."""
    st.subheader("Tokens per task")
    st.caption(
        "Tokens of one run, for each task: box: the middle half of its runs, dot: their median, whiskers: smallest and "
        "largest. Runs that reported no usage are left out."
    )
    answer = data.task_spread(hours)
    if not _drawable(answer):
        return
    if answer.frame["tokens_median"].notna().any():
        st.plotly_chart(charts.spread(answer.frame, "tokens"), key="tokens_per_task", config=charts.CONFIG)
    else:
        st.info("No model call has reported its tokens.")


def steps_per_task(hours: int | None) -> None:
    """How many steps runs of each task take."""
    st.subheader("Steps per task")
    st.caption("Steps of one run, for each task, drawn the same way; tasks in the order of the tokens they spent.")
    answer = data.task_spread(hours)
    if _drawable(answer):
        st.plotly_chart(charts.spread(answer.frame, "steps"), key="steps_per_task", config=charts.CONFIG)


def recent_runs(hours: int | None) -> None:
    """The table of runs."""
    st.subheader("Recent runs")
    answer = data.recent_runs(hours)
    if _drawable(answer):
        st.caption(f"{some(len(answer.frame), 'run')}, the one seen last first. Streak: the most flat steps in a row.")
        run_table.runs(answer.frame)


def _drawable(answer: data.Answer, otherwise: str = "No run was seen in this period.") -> bool:
    notice.show(answer)
    if answer.is_usable and answer.frame.empty:
        st.info(otherwise)
    return answer.is_usable and not answer.frame.empty
