"""The database file itself: where it is, what it holds, and which versions of what are at work."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.components import notice
from dashboard.components.health.sizes import size
from dashboard.language import counted, t
from dashboard.viewer import time_text
from dashboard.wording import NOTHING, ago, inert, text_of, whole
from otel_processor.store.creating import SCHEMA_MAJOR, SCHEMA_MINOR
from otel_processor.store.spool import folder_of
from otel_processor.version import package_version

if TYPE_CHECKING:
    from dashboard.components.health.state import State

_ROW_PIXELS = 35
_DISTRIBUTIONS = ("duckdb", "streamlit", "opentelemetry-sdk")


def show(state: State) -> None:
    """Show path, sizes, rows and versions."""
    st.subheader(t("health.database"))
    left, right = st.columns(2, gap="large")
    with left:
        _pairs("file", _file(state))
        _pairs("versions", _versions(state))
    with right:
        if state.is_to_come(state.tables):
            st.info(t("health.after_next_write"))
        elif notice.drawable(state.tables):
            _rows(state.tables.frame)


def _file(state: State) -> dict[str, str]:
    around = state.around
    waiting = t("health.nothing")
    if around.spool_files:
        batches = counted("health.batches", around.spool_files)
        waiting = t("health.spool_line", batches=batches, size=size(around.spool_bytes), ago=ago(around.spool_oldest_at))
    return {
        t("health.path"): inert(data.database_path()),
        t("health.file_size"): size(around.size_bytes),
        t("health.wal_size"): size(around.wal_bytes),
        t("health.spool_folder"): inert(str(folder_of(data.database_path()))),
        t("health.spool_holds"): waiting,
        t("health.free_space"): size(around.free_bytes),
    }


def _versions(state: State) -> dict[str, str]:
    known = f"{SCHEMA_MAJOR}.{SCHEMA_MINOR}"
    found = NOTHING
    made = {}
    if state.schema.is_usable and len(state.schema.frame):
        row = state.schema.frame.iloc[0]
        found = f"{int(row['schema_major'])}.{int(row['schema_minor'])}"
        made = {t("health.made_by"): f"{inert(text_of(row['created_by']))}, {time_text(row['created_at'])}"}
    return {
        t("health.schema"): found if found == known else t("health.schema_known", found=found, known=known),
        **made,
        "otel-processor": package_version(),
        "Python": platform.python_version(),
        **{name: _version(name) for name in _DISTRIBUTIONS},
    }


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return NOTHING


def _pairs(name: str, pairs: dict[str, str]) -> None:
    table = pd.DataFrame({"what": list(pairs), "value": list(pairs.values())})
    st.dataframe(
        table,
        hide_index=True,
        key=f"{name} of the database",
        height=_ROW_PIXELS * (len(table) + 1) + 3,
        column_config={
            "what": st.column_config.TextColumn(t(f"health.{name}"), width=150),
            "value": st.column_config.TextColumn("", width="large"),
        },
    )


def _rows(frame: pd.DataFrame) -> None:
    table = pd.DataFrame({"table": frame["name"], "rows": [whole(number) for number in frame["table_rows"]]})
    st.dataframe(
        table,
        hide_index=True,
        key="rows of tables",
        height=_ROW_PIXELS * (len(table) + 1) + 3,
        column_config={"table": t("health.table"), "rows": t("health.rows")},
    )
