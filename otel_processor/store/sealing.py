"""Copies that nobody writes to: they have a table that no other database has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_processor.store.scripts import query

if TYPE_CHECKING:
    from datetime import datetime

    import duckdb

SEAL = "sealed_copy"
"""The table that only copies to be shared have."""

REFUSAL = (
    "the database is a sealed copy, made by `otel-processor export` for reading only; "
    "write to another one with --db, or copy the tables that you need out of it"
)


def is_sealed(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a database is a sealed copy.

    Args:
        connection: to the database.
    """
    asked = "select 1 from duckdb_tables() where database_name = current_database() and table_name = $seal"
    return bool(connection.execute(asked, {"seal": SEAL}).fetchall())


@dataclass(frozen=True, slots=True)
class Seal:
    """What a sealed copy says of itself."""

    sealed_at: datetime
    made_by: str
    without_content: bool
    what: str
    """Which runs it holds, in words."""


def seal_of(connection: duckdb.DuckDBPyConnection) -> Seal | None:
    """Return what a sealed copy says of itself; None where a database is none.

    Args:
        connection: to the database.
    """
    return Seal(*connection.execute(query("seal")).fetchall()[0]) if is_sealed(connection) else None
