"""The alerts of one run on one card: how bad, what kind, whose, what it has spent, and the sentence of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.components import alert_words, run_link
from dashboard.language import counted, t
from dashboard.viewer import time_text
from dashboard.wording import NOTHING, ago, count, dollars, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    Row = Mapping[Hashable, Any]


def show(rows: list[Row]) -> None:
    """Show the alerts of a run.

    Args:
        rows: of `recent_alerts`, all of one run, the newest first.
    """
    newest = rows[0]
    when = t("now.raised", time=time_text(newest["raised_at"]), ago=ago(newest["raised_at"])) if newest["is_open"] else ""
    sentences = [text_of(row["message"]) for row in rows]
    if (more := int(newest["run_alerts"]) - len(rows)) > 0:
        sentences.append(counted("now.more_of_run", more))
    # The same elements on each card: while the list is drawn anew, one card never shows parts of two.
    with st.container(border=True, gap="xsmall"):
        st.markdown(alert_words.badges(_worst(rows), _patterns(rows), _state_of(rows), when))
        st.text("\n".join([*sentences, alert_words.whose(newest)]))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(spent(newest), width="content")
            run_link.show(str(newest["run_id"]))


def _patterns(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(str(row["pattern"]) for row in rows))


def spent(row: Row) -> str:
    """Say what a run has spent until now, as far as it is known, and how it ended if it has."""
    if not row["has_run"]:
        return t("now.no_run_row")
    are_counted = pd.notna(row["steps"])
    parts: list[str] = [counted("now.steps", int(row["steps"]))] if are_counted else []
    tokens, cost = count(row["tokens"]), dollars(row["cost_usd"])
    parts.append(t("now.tokens", n=tokens) if tokens != NOTHING else t("now.tokens_unknown"))
    if cost != NOTHING:
        parts.append(cost)
    if not are_counted:
        parts.append(t("now.steps_unknown"))
    reason = text_of(row["run_stop_reason"], "running")
    if reason != "running":
        ended = "now.ended" if are_counted else "now.ended_uncounted"
        return t(ended, reason=theme.stop_reason_label(reason), spent=", ".join(parts))
    return t("now.so_far", spent=", ".join(parts))


def _worst(rows: list[Row]) -> str:
    severities = [str(row["severity"]) for row in rows]
    return "critical" if "critical" in severities else severities[0]


def _state_of(rows: list[Row]) -> Row:
    """Return the alert that says how the run stands: one that went on until the run ended is no good end."""
    return next((row for row in rows if not pd.isna(row["until_the_end"]) and row["until_the_end"]), rows[0])
