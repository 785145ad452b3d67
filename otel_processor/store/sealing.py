"""Copies that nobody writes to: they have a table that no other database has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
