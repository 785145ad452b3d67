"""Alerts as they are told: the runs with an open one on one side, those that are over on the other; one card a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.components import notice
from dashboard.components.now import run_card
from dashboard.filters import Filters
from dashboard.language import counted, t
from dashboard.questions import alerts as questions

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd

CARDS_AT_FIRST = {"open": 5, "over": 3}
"""Runs that are shown on each side until somebody asks for more."""


def show(filters: Filters, severity: str | None) -> None:
    """Show the alerts of the chosen runs.

    Args:
        filters: which runs.
        severity: only alerts of this one; None: all.
    """
    answer = questions.recent_alerts(filters, severity)
    notice.show(answer)
    if not answer.is_usable:
        return
    runs = _by_run(answer.frame)
    left, right = st.columns([6, 5], gap="large")
    with left:
        none = "now.open_none_chosen" if severity or filters != Filters() else "now.open_none"
        _side("open", [rows for rows in runs if rows[0]["is_open"]], none)
    with right:
        _side("over", [rows for rows in runs if not rows[0]["is_open"]], "now.over_none")


def _by_run(frame: pd.DataFrame) -> list[list[Mapping[Hashable, Any]]]:
    """Put the alerts of a run together, in the order in which they come."""
    runs: dict[str, list[Mapping[Hashable, Any]]] = {}
    for row in frame.to_dict("records"):
        runs.setdefault(str(row["run_id"]), []).append(row)
    return list(runs.values())


def _side(name: str, runs: list[list[Mapping[Hashable, Any]]], none: str) -> None:
    in_all = int(runs[0][0][f"{name}_runs"]) if runs else 0
    heading = counted(f"now.{name}_side", in_all) if runs else t(f"now.{name}_side_empty")
    st.markdown(f"**:red[{heading}]**" if runs and name == "open" else f"**{heading}**")
    wants_more = bool(st.session_state.get(_key(name)))
    shown = runs if wants_more else runs[: CARDS_AT_FIRST[name]]
    if not runs:
        (st.success if name == "open" else st.info)(t(none))
    for rows in shown:
        run_card.show(rows)
    # What stood here a moment ago goes at once, not when all of the page is drawn: a card beside "no open alerts" confuses.
    for _ in range(len(shown) or 1, CARDS_AT_FIRST[name]):
        st.empty()
    if len(runs) > CARDS_AT_FIRST[name]:
        st.toggle(t("now.more" if in_all == len(runs) else "now.more_newest", n=len(runs)), key=_key(name))
    if in_all > len(runs):
        st.caption(counted("now.not_shown", in_all - len(runs)))


def _key(name: str) -> str:
    return f"more {name} alerts"
