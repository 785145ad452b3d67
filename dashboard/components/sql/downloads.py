"""The rows as files; made when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.language import t
from otel_processor.errors import QueryError
from otel_processor.querying.downloads import csv_bytes, parquet_bytes

if TYPE_CHECKING:
    from otel_processor.querying.user_query import QueryResult

FILE = "query"


def show(result: QueryResult) -> None:
    """Offer the rows as CSV and as Parquet."""
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            t("sql.as_csv"),
            data=lambda: csv_bytes(result),
            file_name=f"{FILE}.csv",
            mime="text/csv",
            key="sql csv",
            icon=":material/download:",
            on_click="ignore",
            help=t("sql.as_csv_help"),
        )
        possible = is_for_parquet(result)
        st.download_button(
            t("sql.as_parquet"),
            data=(lambda: parquet_bytes(result)) if possible else b"",
            file_name=f"{FILE}.parquet",
            mime="application/vnd.apache.parquet",
            key="sql parquet",
            icon=":material/download:",
            on_click="ignore",
            disabled=not possible,
            help=t("sql.as_parquet_help" if possible else "sql.not_for_parquet"),
        )


def is_for_parquet(result: QueryResult) -> bool:
    """Return whether Parquet knows the types of all columns: asked of the columns alone, which costs nothing."""
    from dataclasses import replace

    try:
        parquet_bytes(replace(result, table=result.table.slice(0, 0)))
    except QueryError:
        return False
    return True
