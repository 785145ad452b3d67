"""One step of a run in full: what went into its calls, what came back, and what the model said, as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.components import notice
from dashboard.components.run import comparison, model_call, texts
from dashboard.language import counted, t
from dashboard.questions import run as questions
from dashboard.wording import duration, inert, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd

COMPARED = 10
"""Calls of one step that are compared with what they repeat; a step of fifty calls would take fifty times as long."""


def show(run_id: str, step: int) -> None:
    """Show the calls of one step."""
    answer = questions.step_calls(run_id, step)
    notice.show(answer)
    if not answer.is_usable:
        return
    if answer.frame.empty:
        st.info(t("run.no_call_in_step", step=whole(step)))
        return
    if len(answer.frame) == questions.CALLS_PER_STEP:
        st.caption(t("run.first_calls_of_step", n=questions.CALLS_PER_STEP))
    rows = answer.frame.to_dict("records")
    earlier = questions.earlier_calls(run_id, step).frame if any(row["kind"] == "tool" for row in rows) else None
    said = questions.said_in_step(run_id, step) if any(row["kind"] == "model" for row in rows) else {}
    tools = 0
    for row in rows:
        if row["kind"] != "tool":
            model_call.show(row, said.get(str(row["span_id"])))
            continue
        tools += 1
        _tool(run_id, step, row, _of(row, earlier) if tools <= COMPARED else None)


def _of(row: Mapping[Hashable, Any], earlier: pd.DataFrame | None) -> pd.DataFrame | None:
    if earlier is None or earlier.empty:
        return None
    own: pd.DataFrame = earlier[(earlier["of_span_id"] == row["span_id"]) & (earlier["of_trace_id"] == row["trace_id"])]
    return own


def _tool(run_id: str, step: int, row: Mapping[Hashable, Any], earlier: pd.DataFrame | None) -> None:
    key = f"{run_id} {step} {row['trace_id']} {row['span_id']}"
    with st.container(border=True):
        st.text(t("run.tool_call", name=text_of(row["tool"], t("wording.no_name"))))
        st.text(_facts(row))
        if texts.is_withheld(row):
            st.caption(t("run.content_off"))
            return
        other = comparison.choose(earlier, key=f"compare {key}") if earlier is not None else None
        if other is not None:
            comparison.show(run_id, row, other, key=key)
            return
        left, right = st.columns(2)
        with left:
            texts.show(t("run.arguments"), texts.arguments(row), length=row["arguments_length"])
        with right:
            if text_of(row["error_message"], ""):
                texts.show(t("run.error"), text_of(row["error_message"]), length=row["error_message_length"])
            if text_of(row["result"], "") or not text_of(row["error_message"], ""):
                texts.show(t("run.result"), text_of(row["result"], ""), length=row["result_length"])


def _facts(row: Mapping[Hashable, Any]) -> str:
    progress = {"True": t("run.new"), "False": t("run.flat")}
    facts = [
        progress.get(text_of(row["progress"]), t("run.progress_unknown")),
        counted("run.seen", int(row["repeats"])) if text_of(row["repeats"], "") else "",
        counted("run.flat_in_a_row", int(row["flat_steps"])) if row["flat_steps"] else "",
        t("run.failed", error=text_of(row["error_class"], t("run.not_classified"))) if row["is_error"] else "",
        t("run.took", time=duration(row["started_at"], row["ended_at"])),
        t("run.of_agent", name=text_of(row["agent"])) if text_of(row["agent"], "") else "",
        t("run.signature", name=text_of(row["signature"])[:12]) if text_of(row["signature"], "") else t("run.no_signature"),
    ]
    return inert(", ".join(fact for fact in facts if fact))
