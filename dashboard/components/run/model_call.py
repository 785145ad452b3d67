"""One model call in full: what it said, what it thought where that is told, what it asked for, and what it took."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.components.run import texts
from dashboard.language import t
from dashboard.questions import run as questions
from dashboard.wording import count, dollars, duration, inert, short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from otel_processor.step_texts import ModelSaid

_REQUESTS_SHOWN = 10


def show(row: Mapping[Hashable, Any], said: ModelSaid | None) -> None:
    """Show one model call.

    Args:
        row: of `step_calls`.
        said: what its span tells of its answer; None: nothing.
    """
    with st.container(border=True):
        st.text(t("run.model_called", name=text_of(row["model"], t("wording.no_name"))))
        st.text(_facts(row))
        if texts.is_withheld(row):
            st.caption(t("run.content_off"))
            return
        if said is None:
            st.caption(t("run.nothing_said"))
            return
        if said.reasoning:
            _text(t("run.reasoning"), said.reasoning)
        if said.text:
            _text(t("run.said"), said.text)
        if said.requested:
            st.caption(t("run.asked_for"))
            for request in said.requested[:_REQUESTS_SHOWN]:
                st.text(inert(short(f"{request.tool} {_written(request.arguments)}", 300)))


def _text(label: str, text: str) -> None:
    plain = inert(text.encode("utf-8", "backslashreplace").decode())
    texts.show(label, plain[: questions.LONGEST_TEXT], length=len(plain))


def _written(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    except (TypeError, ValueError, RecursionError):
        return ""


def _facts(row: Mapping[Hashable, Any]) -> str:
    known = text_of(row["input_tokens"], "") or text_of(row["output_tokens"], "")
    usage = t("run.usage", tokens_in=count(row["input_tokens"]), tokens_out=count(row["output_tokens"]))
    finish = text_of(row["finish_reason"], "")
    facts = [
        usage if known else t("run.usage_not_reported"),
        _some(row["cache_read_tokens"], "run.cached"),
        _some(row["cache_write_tokens"], "run.cache_written"),
        _some(row["reasoning_tokens"], "run.reasoning_tokens"),
        t("run.costs", amount=dollars(row["cost_usd"])) if text_of(row["cost_usd"], "") else t("run.no_price") if known else "",
        t("run.took", time=duration(row["started_at"], row["ended_at"])),
        t("run.finished", reason=finish) if finish else "",
        t("run.of_agent", name=text_of(row["agent"])) if text_of(row["agent"], "") else "",
    ]
    return inert(", ".join(fact for fact in facts if fact))


def _some(value: object, key: str) -> str:
    return t(key, n=count(value)) if text_of(value, "0") not in ("0", "0.0") else ""
