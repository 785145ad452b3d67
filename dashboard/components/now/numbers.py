"""The numbers of this moment: open alerts, open runs, and what they spend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components import notice
from dashboard.language import counted, t
from dashboard.questions import alerts as alert_questions
from dashboard.questions import now as questions
from dashboard.wording import NOTHING, count, dollars

if TYPE_CHECKING:
    from typing import Literal

    import pandas as pd

    from dashboard.filters import Filters

_WIDTH = 164
"""As wide as two beside each other on a phone."""


def show(filters: Filters) -> None:
    """Show them as big numbers, each with a word on it, so that all are of one height."""
    counts = alert_questions.alert_counts(filters)
    runs = questions.open_runs(filters)
    notice.show(counts)
    if not counts.is_usable or not runs.is_usable:
        return
    with st.container(horizontal=True, gap="small"):
        _alerts(counts.frame)
        _runs(runs.frame)
        _spending(runs.frame)


def _alerts(frame: pd.DataFrame) -> None:
    row = frame.iloc[0]
    is_looping = int(row["open_alerts"]) > 0
    about = counted("now.critical", int(row["open_critical"])) if is_looping else t("now.nobody_loops")
    _number("open_alerts", count(row["open_alerts"]), about, "inverse" if is_looping else "normal")


def _runs(frame: pd.DataFrame) -> None:
    silent = 0 if frame.empty else int(frame["silent_runs"].iloc[0])
    about = counted("now.silent", silent) if silent else t("now.none_silent")
    _number("open_runs", count(0 if frame.empty else frame["runs"].iloc[0]), about)


def _spending(frame: pd.DataFrame) -> None:
    """Cost where it is known of anyone, else tokens alone."""
    cost = NOTHING if frame.empty else dollars(frame["all_cost_per_minute"].iloc[0])
    tokens = NOTHING if frame.empty else count(frame["all_tokens_per_minute"].iloc[0])
    if tokens == NOTHING:
        _number("spending", NOTHING, t("now.nothing_spent" if frame.empty else "now.no_usage"))
    elif cost == NOTHING:
        _number("spending_tokens", tokens, t("now.no_price"))
    else:
        _number("spending", cost, t("now.tokens_too", tokens=tokens))


def _number(name: str, value: str, about: str, color: Literal["inverse", "normal", "off"] = "off") -> None:
    st.metric(
        t(f"now.{name}"),
        value,
        delta=about,
        delta_color=color,
        delta_arrow="off",
        help=t(f"now.{name}_help"),
        border=True,
        width=_WIDTH,
    )
