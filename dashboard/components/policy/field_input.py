"""One threshold in the form: a widget of its kind, and beneath it what is wrong with its value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import theme
from dashboard.components.policy.draft import MOST_NAMES
from dashboard.components.policy.groups import text_of_value
from dashboard.language import t
from dashboard.wording import inert, option, short

if TYPE_CHECKING:
    from otel_processor.what_if.fields import PolicyField

_LARGEST = 2**53 - 1
_SHARE_STEP = 0.05
_NUMBER_STEP = 0.5


def show(item: PolicyField, start: Any, changed: Any, *, key: str) -> Any:
    """Let the reader change a threshold; return its value.

    Args:
        item: what can be asked of it.
        start: its value where nothing is changed.
        changed: what it begins with; `start` when it is not changed, a text where the address has no value of this kind.
        key: of the widget; another one begins anew.
    """
    label, meaning = item.name, t(f"policy.means.{item.name}")
    match item.kind:
        case "choice":
            index = item.choices.index(changed) if changed in item.choices else None
            said: Any = st.selectbox(label, item.choices, index=index, key=key, help=meaning, placeholder=t("policy.choose"))
            begun: Any = None if index is None else changed
        case "choices":
            begun = [name for name in item.choices if name in changed]
            labels = {name: theme.pattern_label(name) for name in item.choices}
            said = st.pills(
                label,
                item.choices,
                selection_mode="multi",
                default=begun,
                format_func=lambda name: labels[name],
                key=key,
                help=meaning,
                wrap=True,
            )
        case "names":
            begun = sorted(changed)
            said = st.multiselect(
                label,
                begun,
                default=begun,
                format_func=lambda name: option(name, 80),
                key=key,
                help=meaning,
                placeholder=t("policy.type_names"),
                max_selections=MOST_NAMES,
                accept_new_options=True,
            )
        case _:
            said, begun = _number(item, changed, label, meaning, key)
    # A value that no widget can hold is kept until the reader puts another in its place.
    value = changed if _is_same(said, begun) else said
    return start if _is_same(value, start) else value


def instead_of(item: PolicyField, start: Any) -> None:
    """Say what a changed threshold was."""
    st.caption(t("policy.instead_of", value=text_of_value(item.name, start)))


def problem(sentence: str) -> None:
    """Say what is wrong with a value; the sentence may hold words of others."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.badge(t("policy.wrong"), color="red", icon=":material/error:")
        st.text(short(inert(sentence), 300))


def _number(item: PolicyField, changed: Any, label: str, meaning: str, key: str) -> tuple[Any, Any]:
    is_whole = item.kind == "whole"
    is_number = isinstance(changed, int | float) and math.isfinite(changed) and abs(changed) <= _LARGEST
    begun = (int(changed) if is_whole else float(changed)) if is_number else None
    step: float = 1 if is_whole else _SHARE_STEP if item.most == 1 else _NUMBER_STEP
    said = st.number_input(
        label,
        value=begun,
        step=step,
        format="%d" if is_whole else "%g",
        key=key,
        help=meaning,
        placeholder=t("policy.off") if item.may_be_none else t("policy.type_number"),
    )
    return said, begun


def _is_same(value: Any, other: Any) -> bool:
    """Whether two values are the same threshold; names have no order."""
    if isinstance(value, list | tuple | frozenset) and isinstance(other, list | tuple | frozenset):
        return set(value) == set(other)
    return bool(value == other)
