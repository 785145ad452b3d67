"""What came of a query: its rows in a table, as files and as a chart, or in one line why there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.sql import chart, downloads
from dashboard.components.sql.attempt import Ending
from dashboard.language import counted, t
from dashboard.questions.sql import MOST_BYTES
from dashboard.wording import seconds_text, whole

if TYPE_CHECKING:
    import pandas as pd

    from dashboard.components.sql.attempt import Attempt, Outcome
    from otel_processor.querying.user_query import QueryResult

_TABLE_HEIGHT = 420
_ROW_HEIGHT = 35
_PLACE = "\nLINE "


def show(attempt: Attempt) -> None:
    """Show what came of an attempt; nothing while it runs."""
    outcome = attempt.outcome
    if outcome is None:
        return
    if outcome.result is None or outcome.frame is None:
        _why_not(attempt, outcome)
        return
    st.subheader(t("sql.result"), anchor=False)
    st.caption(_said(attempt, outcome, outcome.result))
    if outcome.frame.empty:
        st.info(t("sql.no_rows"))
    _table(outcome.frame)
    if _has_times(outcome.result):
        st.caption(t("sql.times_in_utc"))
    downloads.show(outcome.result)
    chart.show(outcome.frame, is_all=outcome.result.more is None)


def _said(attempt: Attempt, outcome: Outcome, result: QueryResult) -> str:
    """Say how many rows there are, what is missing of them, and how long it took."""
    rows = result.table.num_rows
    parts = [counted("sql.n_rows", rows, whole=whole(rows))]
    if result.more is not None:
        parts.append(t(f"sql.more_{result.more}", limit=whole(attempt.question.limit_rows), size=MOST_BYTES >> 20))
    parts.append(t("sql.took", seconds=seconds_text(result.took_seconds)))
    if result.cells_cut:
        parts.append(counted("sql.cells_cut", result.cells_cut))
    if outcome.shortened:
        parts.append(counted("sql.cells_shortened", outcome.shortened))
    return " ".join(parts)


def _table(frame: pd.DataFrame) -> None:
    height = min(_TABLE_HEIGHT, _ROW_HEIGHT * (max(len(frame), 1) + 1) + 3)
    st.dataframe(frame, hide_index=True, height=height)


def _has_times(result: QueryResult) -> bool:
    return any("TIMESTAMP WITH TIME ZONE" in kind for kind in result.types)


def _why_not(attempt: Attempt, outcome: Outcome) -> None:
    seconds = {"seconds": seconds_text(attempt.seconds), "most": attempt.question.limit_seconds}
    match outcome.ending:
        case Ending.CANCELLED | Ending.LEFT | Ending.LET_GO:
            st.info(t(f"sql.{outcome.ending}", **seconds))
        case Ending.TOO_LONG | Ending.TOO_LARGE | Ending.READ_ONLY:
            st.warning(t(f"sql.{outcome.ending}", **seconds))
        case _:
            st.warning(t(f"sql.{outcome.ending}"))
            _sentence(outcome.problem)


def _sentence(problem: str) -> None:
    """Show what the engine says, which quotes values of the database: the sentence, and the place that it points at."""
    sentence, marked, place = problem.partition(_PLACE)
    if sentence:
        st.text(sentence)
    if marked:
        st.code(f"LINE {place}", language=None)
