"""What came of a what-if: counts before and after, which runs it is about, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import theme
from dashboard.charts import base
from dashboard.charts import policy as charts
from dashboard.components.policy import changed_runs
from dashboard.components.policy.groups import change_text
from dashboard.language import counted, t
from dashboard.wording import inert, seconds_text, short, whole

if TYPE_CHECKING:
    from dashboard.components.policy.trial import Question
    from otel_processor.what_if.results import Outcome


def show(question: Question, found: Outcome) -> None:
    """Show an outcome.

    Args:
        question: what was tried.
        found: what came of it.
    """
    st.subheader(t("policy.result"))
    st.text(_asked(question))
    if found.was_cancelled:
        st.warning(t("policy.was_cancelled"))
    _left_out(found)
    if not found.runs:
        st.info(t("policy.no_runs"))
        return
    _numbers(found)
    frame = by_pattern(found)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.caption(t("policy.chart_about"))
        if frame[["before", "after"]].to_numpy().any():
            st.plotly_chart(charts.flagged(frame), key="policy flagged", config=base.CONFIG)
        else:
            st.info(t("policy.nothing_flagged"))
    with right:
        _table(frame)
    changed_runs.show(found)
    st.caption(t("policy.took", spans=whole(found.spans), time=seconds_text(found.took_seconds)))


def by_pattern(found: Outcome) -> pd.DataFrame:
    """Return a row for each pattern that one of the two policies looks for."""
    columns = ["pattern", "before", "after", "newly", "no_longer"]
    rows = [(each.pattern, each.before, each.after, each.newly, each.no_longer) for each in found.patterns]
    return pd.DataFrame(rows, columns=columns)


def _asked(question: Question) -> str:
    """Say what was tried, over which runs."""
    changes = "; ".join(change_text(name, *pair) for name, pair in question.changes.items())
    said = [t("policy.tried", changes=changes) if changes else t("policy.tried_nothing")]
    choice = question.choice
    if choice.task:
        said.append(t("alert.task", name=short(choice.task, 80)))
    if choice.agent:
        said.append(t("alert.agent", name=short(choice.agent, 80)))
    return inert(". ".join(said))


def _numbers(found: Outcome) -> None:
    with st.container(horizontal=True, gap="small"):
        _number("judged", whole(found.runs))
        _number("flagged", _change(found.flagged_before, found.flagged_after))
        _number("newly", whole(found.newly))
        _number("no_longer", whole(found.no_longer))
        _number("stops", _change(found.stops_before, found.stops_after))


def _number(name: str, value: str) -> None:
    # As wide as two beside each other on a phone.
    st.metric(t(f"policy.{name}"), value, help=t(f"policy.{name}_help"), border=True, width=164)


def _change(before: int, after: int) -> str:
    return whole(before) if before == after else f"{whole(before)} → {whole(after)}"


def _table(frame: pd.DataFrame) -> None:
    table = frame.assign(pattern=[theme.pattern_label(name) for name in frame["pattern"]])
    st.dataframe(
        table,
        hide_index=True,
        key="policy counts",
        column_config={
            "pattern": t("policy.column_pattern"),
            **{
                name: st.column_config.NumberColumn(t(f"policy.column_{name}"), help=t(f"policy.column_{name}_help"))
                for name in ("before", "after", "newly", "no_longer")
            },
        },
    )


def _left_out(found: Outcome) -> None:
    said = [counted(f"policy.left_out_{why}", number) for why, number in found.left_out.items()]
    if said:
        st.caption(" ".join(said))
