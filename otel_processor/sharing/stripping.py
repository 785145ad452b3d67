"""Content taken out of rows, in SQL: what stays is on a list, everything else leaves its length and hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.sharing import harmless
from otel_processor.store.scripts import sharing_query, sharing_statement

if TYPE_CHECKING:
    import duckdb


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Let a connection know the macros that the queries for stripped rows use."""
    for name, known in (
        ("known_names", harmless.KNOWN | harmless.KNOWN_EVIDENCE),
        ("kept_names", harmless.KEPT),
        ("number_names", harmless.NUMBERS),
        ("kept_evidence", harmless.KEPT_EVIDENCE),
        ("patterns_in_words_of_ours", harmless.PATTERNS_IN_WORDS_OF_OURS),
    ):
        connection.execute(f"set variable {name} = $names::VARCHAR[]", {"names": sorted(known)})
    connection.execute(sharing_statement("macros"))


def rows_of(table: str, *, without_content: bool) -> str | None:
    """Return the query for the rows of a table that are wanted; None where it stays empty.

    Who wrote to the database, and who was told of alerts, is nobody's business but its owner's.
    """
    rows = sharing_query("rows", table)
    if rows is None:
        return None
    stripped = sharing_query("stripped", table) if without_content else None
    return f"with given as ({rows}) {stripped or 'select * from given'}"
