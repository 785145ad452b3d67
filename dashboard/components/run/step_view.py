"""One step of a run in full: what went into its calls and what came back, as plain text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from dashboard.components import notice
from dashboard.questions import run as questions
from dashboard.wording import count, duration, inert, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

_TALL = 1500


def show(run_id: str, step: int) -> None:
    """Show the calls of one step."""
    answer = questions.step_calls(run_id, step)
    notice.show(answer)
    if not answer.is_usable:
        return
    if answer.frame.empty:
        st.info(f"Step {step} has no recorded call.")
        return
    if len(answer.frame) == questions.CALLS_PER_STEP:
        st.caption(f"Only the first {questions.CALLS_PER_STEP} calls of this step are shown.")
    for row in answer.frame.to_dict("records"):
        _call(row)


def _call(row: Mapping[Hashable, Any]) -> None:
    is_tool = row["kind"] == "tool"
    with st.container(border=True):
        st.text(f"Tool {text_of(row['tool'], '(no name)')}" if is_tool else f"Model {text_of(row['model'], '(no name)')}")
        st.text(_tool_facts(row) if is_tool else _model_facts(row))
        if not is_tool:
            return
        _text("Arguments", row, "arguments", as_json=True)
        if text_of(row["error_message"], ""):
            _text("Error", row, "error_message")
        if text_of(row["result"], "") or not text_of(row["error_message"], ""):
            _text("Result", row, "result")


def _tool_facts(row: Mapping[Hashable, Any]) -> str:
    progress = {"True": "brought something new", "False": "flat: brought nothing new"}
    facts = [
        progress.get(text_of(row["progress"]), "not known whether it brought something new"),
        f"seen {int(row['repeats'])} times since something changed" if text_of(row["repeats"], "") else "",
        f"{int(row['flat_steps'])} flat steps in a row" if row["flat_steps"] else "",
        f"failed ({text_of(row['error_class'], 'not classified')})" if row["is_error"] else "",
        f"took {duration(row['started_at'], row['ended_at'])}",
        f"signature {text_of(row['signature'])[:12]}" if text_of(row["signature"], "") else "no signature",
    ]
    return inert(", ".join(fact for fact in facts if fact))


def _model_facts(row: Mapping[Hashable, Any]) -> str:
    usage = f"{count(row['input_tokens'])} tokens in, {count(row['output_tokens'])} out"
    known = text_of(row["input_tokens"], "") or text_of(row["output_tokens"], "")
    finish = f", finished: {text_of(row['finish_reason'])}" if text_of(row["finish_reason"], "") else ""
    return inert(f"{usage if known else 'usage not reported'}, took {duration(row['started_at'], row['ended_at'])}{finish}")


def _text(label: str, row: Mapping[Hashable, Any], column: str, *, as_json: bool = False) -> None:
    st.caption(label)
    text = text_of(row[column], "")
    if not text:
        st.text("not recorded" if text_of(row[f"{column}_length"], "") in ("", "<NA>") else "(empty)")
        return
    shown = _indented(text) if as_json else text
    height: int | Literal["content"] = 320 if len(shown) > _TALL or shown.count("\n") > 14 else "content"
    st.code(shown, language=None, wrap_lines=True, height=height)
    length = int(row[f"{column}_length"])
    if length > questions.LONGEST_TEXT:
        st.caption(f"Cut here: these are the first {questions.LONGEST_TEXT:,} of {length:,} characters.")


def _indented(text: str) -> str:
    """Lay out JSON for reading. Unescaping can bring characters back that act: they are made inert again."""
    try:
        return inert(json.dumps(json.loads(text), indent=2, ensure_ascii=False))
    except (ValueError, RecursionError):
        return text
