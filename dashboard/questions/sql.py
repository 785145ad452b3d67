"""What the page of SQL asks: what there is to ask, and what its reader asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data
from otel_processor.querying.bounds import Bounds
from otel_processor.querying.user_query import UserQuery

if TYPE_CHECKING:
    from dashboard.data import Answer

COLUMNS_SHOWN = 2_000
"""Columns of all relations together."""

MOST_BYTES = 16 << 20
"""Of a result: the page keeps it for as long as its reader looks at it."""


def schema() -> Answer:
    """Return every column of every relation, views first."""
    return data.recent("schema_columns", limit=COLUMNS_SHOWN)


def of_the_reader(text: str, *, limit_rows: int, limit_seconds: float) -> UserQuery:
    """Return a reader's own query, not yet run.

    Args:
        text: SQL.
        limit_rows: rows at most.
        limit_seconds: until it is stopped.

    Raises:
        StoreError: the path of the database is none.
    """
    bounds = Bounds(limit_rows=limit_rows, timeout_seconds=limit_seconds, max_bytes=MOST_BYTES)
    return UserQuery(data.database_path(), text, bounds)
