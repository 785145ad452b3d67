"""What there is to ask, beside the editor: relations with their columns, to be searched and clicked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.components import notice
from dashboard.components.sql import editor
from dashboard.components.sql.insertion import appended, look_at, quoted
from dashboard.language import t
from dashboard.wording import inert, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dashboard.components.sql.desk import Desk
    from dashboard.data import Answer

SEARCH = "sql schema search"

_HEIGHT = 410
_ROW_HEIGHT = 30
_MOST_ROWS = 50
_LONGEST_TYPE = 40


@dataclass(frozen=True, slots=True)
class Relation:
    """A view or a table with its columns and their types."""

    name: str
    kind: str
    columns: tuple[tuple[str, str], ...]


def relations(frame: pd.DataFrame, search: str = "") -> Iterator[Relation]:
    """Return what there is to ask.

    Args:
        frame: rows of `schema_columns`.
        search: words in the name of a relation, which then has all of its columns, or in names of columns.
    """
    wanted = search.strip().lower()
    for (name, kind), rows in frame.groupby(["relation", "kind"], sort=False):
        columns = tuple((str(column), str(of_type)) for column, of_type in zip(rows["column"], rows["type"], strict=True))
        if wanted not in str(name).lower():
            columns = tuple(column for column in columns if wanted in column[0].lower())
        if columns:
            yield Relation(str(name), str(kind), columns)


def show(answer: Answer, desk: Desk) -> None:
    """Show what there is to ask.

    Args:
        answer: to the question for the schema.
        desk: of the reader.
    """
    if not answer.is_usable:
        notice.show(answer)
        return
    search = st.text_input(
        t("sql.schema"), key=SEARCH, placeholder=t("sql.search"), help=t("sql.schema_help"), type="search", live="300ms"
    )
    found = list(relations(answer.frame, search))
    with st.container(height=_HEIGHT, gap="xsmall", key="sql_schema"):
        if not found:
            st.caption(t("sql.nothing_found"))
        for kind in ("view", "table"):
            of_kind = [relation for relation in found if relation.kind == kind]
            if of_kind:
                st.caption(t(f"sql.{kind}s"))
            for relation in of_kind:
                _one(relation, desk, is_open=bool(search.strip()))


def _one(relation: Relation, desk: Desk, *, is_open: bool) -> None:
    # While something is searched for there are other boxes, open ones: those that the reader opened stay as they were.
    key = f"sql schema {relation.name} {is_open}"
    box = st.expander(_label(relation.name), expanded=is_open, key=key, on_change="rerun", type="compact")
    if not box.open:
        return
    with box:
        st.button(
            t("sql.look_at"),
            key=f"{key} rows",
            type="tertiary",
            icon=":material/table_rows:",
            on_click=_look_at,
            args=(desk, relation.name),
        )
        frame = pd.DataFrame(
            {
                "column": [inert(name) for name, _ in relation.columns],
                "type": [short(inert(of_type), _LONGEST_TYPE) for _, of_type in relation.columns],
            }
        )
        st.dataframe(
            frame,
            hide_index=True,
            height=_ROW_HEIGHT * (min(len(frame), _MOST_ROWS) + 1) + 6,
            row_height=_ROW_HEIGHT,
            key=f"{key} columns",
            selection_mode="single-cell",
            on_select=lambda: _insert(desk, f"{key} columns", relation),
            column_config={
                "column": st.column_config.TextColumn(t("sql.column"), width="medium"),
                "type": st.column_config.TextColumn(t("sql.type"), width="small"),
            },
        )


def _look_at(desk: Desk, relation: str) -> None:
    editor.replace(desk, look_at(relation))


def _insert(desk: Desk, key: str, relation: Relation) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    if not cells:
        return
    row = int(cells[0][0])
    if row >= len(relation.columns):
        return
    name = quoted(relation.columns[row][0])
    editor.fill(appended(editor.text(), name, before=desk.last_inserted))
    desk.last_inserted = name


def _label(name: str) -> str:
    """Return a name as a label, which reads Markdown: without what means something there."""
    plain = re.sub(r"[^\w .-]", " ", name).strip()[:60]
    return plain.replace("_", r"\_") or t("wording.no_name")
