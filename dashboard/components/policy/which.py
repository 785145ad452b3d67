"""Which policy the page is about: the one that judged a chosen run last, or another; it stands in the address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.components.policy.groups import DEFAULTS
from dashboard.language import counted, t
from dashboard.viewer import time_text
from dashboard.wording import inert, short

if TYPE_CHECKING:
    from dashboard.components.policy.stored import StoredPolicy

_NAME = "policy"
_HASH_SHOWN = 16


def show(known: list[StoredPolicy], *, is_cut: bool) -> StoredPolicy:
    """Say by which policies the chosen runs were judged, and return the one that the page is about.

    Args:
        known: at least one.
        is_cut: there may be more of them.
    """
    asked = st.query_params.get(_NAME)
    chosen = next((each for each in known if each.policy_hash == asked), known[0])
    if len(known) == 1:
        _say(chosen)
        return chosen
    st.caption(t("policy.several", n=len(known)) + (" " + t("policy.more_policies") if is_cut else ""))
    st.dataframe(_table(known), hide_index=True, key="policies", column_config=_columns())
    labels = {each.policy_hash: f"{_short(each.policy_hash)} ({counted('wording.runs', each.runs)})" for each in known}
    wanted = st.selectbox(
        t("policy.which"),
        list(labels),
        index=list(labels).index(chosen.policy_hash),
        format_func=lambda name: labels[name],
        # A key of its own for each address: a link must not lose to what was chosen before it.
        key=f"policy {chosen.policy_hash} {t('language.decimal')}",
        width=420,
    )
    if wanted and wanted != chosen.policy_hash:
        st.query_params[_NAME] = wanted
        st.rerun()
    return chosen


def _say(chosen: StoredPolicy) -> None:
    first = time_text(chosen.first_used_at) if chosen.first_used_at else None
    said = counted("policy.judged_by", chosen.runs, hash=_short(chosen.policy_hash))
    st.text(said + (" " + t("policy.first_used", time=first) if first else ""))


def _table(known: list[StoredPolicy]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "hash": [_short(each.policy_hash) for each in known],
            "runs": [each.runs for each in known],
            "last": [time_text(each.last_used_at) for each in known],
            "first": [time_text(each.first_used_at) for each in known],
            "differs": [_differing(each) for each in known],
        }
    )


def _columns() -> dict[str, Any]:
    return {
        "hash": t("policy.column_hash"),
        "runs": st.column_config.NumberColumn(t("policy.column_runs"), width="small"),
        "last": t("policy.column_last"),
        "first": t("policy.column_first"),
        "differs": st.column_config.TextColumn(t("policy.column_differs"), width="large"),
    }


def _differing(each: StoredPolicy) -> str:
    policy = each.policy
    if policy is None:
        return t("policy.unreadable_short" if each.is_stored else "policy.not_stored_short")
    names = [name for name, default in DEFAULTS.items() if getattr(policy, name) != default]
    return ", ".join(names) or t("policy.nothing_differs_short")


def _short(policy_hash: str) -> str:
    return short(inert(policy_hash), _HASH_SHOWN)
