"""Texts of a call as they are shown: JSON laid out for reading, long ones in a box, cut ones with a note."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from dashboard.language import t
from dashboard.questions import run as questions
from dashboard.wording import inert, number_of, text_of, whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

_TALL = 1500


def show(label: str, text: str, *, length: object = None) -> None:
    """Show a text that somebody else wrote.

    Args:
        label: what it is.
        text: the text, empty where there is none.
        length: how long it was before it was cut; missing where it was not recorded.
    """
    st.caption(label)
    if not text:
        st.text(t("run.not_recorded") if number_of(length) is None else t("run.empty"))
        return
    height: int | Literal["content"] = 320 if len(text) > _TALL or text.count("\n") > 14 else "content"
    st.code(text, language=None, wrap_lines=True, height=height)
    note_cut(length)


def is_withheld(row: Mapping[Hashable, Any]) -> bool:
    """Return whether what was said in a call was never stored."""
    return text_of(row["content"], "") == "off"


def note_cut(length: object) -> None:
    """Say that a text goes on, where it does."""
    of = number_of(length)
    if of is not None and of > questions.LONGEST_TEXT:
        st.caption(t("run.cut", shown=whole(questions.LONGEST_TEXT), length=whole(of)))


def arguments(row: Mapping[Hashable, Any], *, in_order: bool = False) -> str:
    """Return a call's arguments, laid out.

    Args:
        row: of `step_calls` or `call_in_full`.
        in_order: whether names go by the alphabet, so that two calls can be compared.
    """
    return _indented(text_of(row["arguments"], ""), in_order=in_order)


def outcome(row: Mapping[Hashable, Any]) -> str:
    """Return what a call came back with: its result, or its error where that is all there is."""
    return text_of(row["result"], "") or text_of(row["error_message"], "")


def outcome_length(row: Mapping[Hashable, Any]) -> object:
    """Return how long that was before it was cut."""
    return row["result_length"] if text_of(row["result"], "") else row["error_message_length"]


def _indented(text: str, *, in_order: bool) -> str:
    """Lay out JSON for reading. Unescaping can bring characters back that act: they are made inert again."""
    try:
        laid_out = json.dumps(json.loads(text), indent=2, ensure_ascii=False, sort_keys=in_order)
    except (ValueError, RecursionError):
        return text
    return inert(laid_out.encode("utf-8", "backslashreplace").decode())
