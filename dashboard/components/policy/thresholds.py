"""The thresholds of one policy: what differs from the defaults first, then all of them by pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.components.policy import names
from dashboard.components.policy.groups import DEFAULTS, GENERAL, NAMED, grouped, label_of, text_of_value
from dashboard.language import counted, t

if TYPE_CHECKING:
    from dashboard.components.policy.stored import StoredPolicy
    from otel_processor.policy import Policy


def show(stored: StoredPolicy) -> None:
    """Show what a policy says."""
    policy = stored.policy
    if policy is None:
        st.warning(t("policy.unreadable" if stored.is_stored else "policy.not_stored"))
        return
    differing = [name for name in _plain() if getattr(policy, name) != DEFAULTS[name]]
    if differing:
        st.caption(counted("policy.differing", len(differing)))
        _table(policy, differing)
    else:
        st.caption(t("policy.nothing_differs"))
    names.show(policy, stored.runs_by_type)
    with st.expander(t("policy.all_thresholds"), icon=":material/tune:"):
        st.caption(t("policy.all_thresholds_about"))
        _by_pattern(policy)


def _by_pattern(policy: Policy) -> None:
    columns = st.columns(2, gap="large")
    held = [0, 0]
    for group, members in grouped(_plain()).items():
        place = held.index(min(held))
        held[place] += len(members) + 1
        with columns[place]:
            st.subheader(label_of(group))
            if group != GENERAL and group not in policy.patterns:
                st.caption(t("policy.not_looked_for"))
            _table(policy, members)


def _table(policy: Policy, members: list[str]) -> None:
    """Show fields as a table whose texts wrap. Its cells are read as Markdown: what is in them is ours, or a number."""
    st.table(
        pd.DataFrame(
            {
                t("policy.column_field"): [f"`{name}`  \n{t(f'policy.means.{name}')}" for name in members],
                t("policy.column_value"): [_marked(name, getattr(policy, name)) for name in members],
                t("policy.column_default"): [text_of_value(name, DEFAULTS[name]) for name in members],
            }
        ),
        hide_index=True,
    )


def _marked(name: str, value: Any) -> str:
    written = text_of_value(name, value)
    return written if value == DEFAULTS[name] else f":orange-badge[{written}]"


def _plain() -> list[str]:
    """Return the fields that hold a number, a word of ours, or patterns."""
    return [name for name in DEFAULTS if name not in NAMED]
