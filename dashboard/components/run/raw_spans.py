"""The spans of one step as they were received, on demand, as text to be read and copied."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.components import notice
from dashboard.language import counted, t
from dashboard.questions import run as questions
from dashboard.wording import inert, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

LONGEST_SHOWN = 200_000
_PLAIN = ("trace_id", "span_id", "parent_span_id", "kind", "status", "status_message", "scope", "scope_version")
_JSON = ("attributes", "events", "resource")


def show(run_id: str, step: int) -> None:
    """Offer the spans of one step; nothing is read before somebody asks for them."""
    opened = st.expander(t("run.raw_spans"), key=f"raw {run_id} {step}", on_change="rerun")
    if not opened.open:
        return
    with opened:
        answer = questions.step_spans(run_id, step)
        if not notice.drawable(answer, "run.no_spans"):
            return
        text = written(answer.frame.to_dict("records"))
        st.caption(counted("run.spans_shown", len(answer.frame)))
        if len(answer.frame) == questions.SPANS_PER_STEP or len(text) > LONGEST_SHOWN:
            st.caption(t("run.spans_cut", spans=questions.SPANS_PER_STEP, length=whole(LONGEST_SHOWN)))
        st.code(text[:LONGEST_SHOWN], language=None, wrap_lines=True, height=480)


def written(rows: list[dict[Hashable, Any]]) -> str:
    """Return spans as JSON for a person; what would act in a text is made inert."""
    spans = [
        {"name": row["span_name"]}
        | {name: text_of(row[name], "") for name in _PLAIN if text_of(row[name], "")}
        | {name: text_of(row[name]) for name in ("start_time", "end_time")}
        | {"service": text_of(row["span_service"], "")}
        | {name: _value(row, name) for name in _JSON}
        for row in rows
    ]
    return inert(json.dumps(spans, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace").decode())


def _value(row: Mapping[Hashable, Any], name: str) -> Any:
    text = text_of(row[name], "")
    length = int(row[f"{name}_length"]) if text else 0
    if length > len(text):
        return t("run.value_cut", text=text, length=whole(length)) if text else ""
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return text
