"""A quick chart of a result: a choice to begin with, and columns to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.charts import base
from dashboard.charts import sql as charts
from dashboard.language import t
from dashboard.wording import option, whole

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_CHOICE = 40


@st.fragment
def show(frame: pd.DataFrame, *, is_all: bool) -> None:
    """Show a chart, where there is a number to draw.

    Args:
        frame: the rows, names and texts of it inert.
        is_all: whether these are all rows of the query.
    """
    first = charts.first_choice(frame)
    if first is None:
        return
    st.subheader(t("sql.chart"), anchor=False)
    choice = _chosen(frame, first)
    drawn = charts.draw(frame, choice)
    if not drawn.figure.data:
        st.info(t("sql.nothing_to_draw"))
        return
    parts = [t(f"sql.{choice.kind}_about")]
    if drawn.left_out:
        parts.append(t("sql.left_out", shown=whole(drawn.names), all=whole(drawn.names + drawn.left_out)))
    if not is_all:
        parts.append(t("sql.only_these_rows"))
    st.caption(" ".join(parts))
    st.plotly_chart(drawn.figure, key="sql chart", config=base.CONFIG)


def _chosen(frame: pd.DataFrame, first: charts.Choice) -> charts.Choice:
    # Columns of those names in that order keep what was chosen for them, also when the query is run again.
    of = f"{hash(tuple(frame.columns))} {t('language.decimal')}"
    names = [str(name) for name in frame.columns]
    numbers = list(charts.kinds(frame).numbers)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kind = st.segmented_control(
            t("sql.chart_kind"),
            charts.KINDS,
            default=first.kind,
            required=True,
            format_func=lambda name: t(f"sql.{name}"),
            key=f"sql chart kind {of}",
        )
        x = _column(t("sql.chart_x"), names, first.x, f"sql chart x {of}", otherwise=t("sql.row_number"))
        y = _column(t("sql.chart_y"), numbers, first.y, f"sql chart y {of}")
        color = _column(t("sql.chart_color"), names, first.color, f"sql chart color {of}", otherwise=t("sql.one_color"))
    return charts.Choice(kind or first.kind, x, y or first.y, color)


def _column(label: str, names: list[str], first: str | None, key: str, *, otherwise: str = "") -> str | None:
    """Let the reader choose a column, or none of them where that is called something."""
    none = -1
    options = [*([none] if otherwise else []), *range(len(names))]
    place = st.selectbox(
        label,
        options,
        index=options.index(none if first is None else names.index(first)),
        format_func=lambda place: otherwise if place == none else option(names[place], _LONGEST_CHOICE, otherwise),
        key=key,
        width=190,
    )
    return None if place == none else names[place]
