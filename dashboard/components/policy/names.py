"""What a policy says by name: values of task types, effects of tools, prices. Names are not ours: they stand in cells only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.components.policy.groups import NAMED, text_of_value
from dashboard.language import t
from dashboard.wording import inert, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from otel_processor.policy import Policy

MOST_ROWS = 200
_LONGEST_NAME = 120


def show(policy: Policy, runs_by_type: Mapping[str, int]) -> None:
    """Show what is said by name; nothing where nothing is.

    Args:
        policy: what says it.
        runs_by_type: how many of the chosen runs are of a type with values of its own.
    """
    types = list(_of_types(policy, runs_by_type))
    if types:
        st.subheader(t("policy.task_types"))
        st.caption(t("policy.task_types_about"))
        _show(types, ["type", "runs", "field", "value", "otherwise"], "policy task types")
    others = list(_named(policy))
    if others:
        st.subheader(t("policy.by_name"))
        st.caption(t("policy.by_name_about"))
        _show(others, ["field", "name", "value"], "policy names")
    left = max(len(types) - MOST_ROWS, 0) + max(len(others) - MOST_ROWS, 0)
    if left:
        st.caption(t("policy.names_left_out", n=left))


def _show(rows: Sequence[tuple[object, ...]], names: list[str], key: str) -> None:
    columns: dict[str, Any] = {name: t(f"policy.column_{name}") for name in names}
    st.dataframe(pd.DataFrame(rows[:MOST_ROWS], columns=names), hide_index=True, key=key, column_config=columns)


def _of_types(policy: Policy, runs_by_type: Mapping[str, int]) -> Iterator[tuple[str, int, str, str, str]]:
    for task_type, changes in sorted(policy.task_types.items()):
        for name, value in changes.items():
            otherwise = text_of_value(name, getattr(policy, name))
            yield _name(task_type), runs_by_type.get(task_type, 0), name, text_of_value(name, value), otherwise


def _named(policy: Policy) -> Iterator[tuple[str, str, str]]:
    for field in NAMED:
        held = getattr(policy, field)
        if field == "task_types":
            continue
        for name in sorted(held):
            value = text_of_value(field, held[name]) if field != "volatile_keys" else t("policy.is_volatile")
            yield field, _name(name), value


def _name(text: str) -> str:
    return short(inert(text), _LONGEST_NAME)
