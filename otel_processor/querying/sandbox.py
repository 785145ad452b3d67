"""What a user's SQL may not do, and how its refusal is said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

SANDBOX = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # A name in a query means a table, never a Python variable of this program.
    "python_enable_replacements": "false",
    # DuckDB may write into its temporary folder whatever else is forbidden.
    "temp_directory": "",
}

READ_ONLY = "SQL is read-only here: it cannot change the database or its settings, nor reach files or extensions"

_FORBIDDEN = {"COPY", "COPY_DATABASE", "EXPORT", "ATTACH", "DETACH", "LOAD"}
"""Statements that are for files; temporary tables may be changed, the database is open read-only."""

_WITHOUT_ROWS = {"CREATE", "CREATE_FUNC", "TRANSACTION", "PREPARE", "VACUUM", "DROP", "SET", "DETACH", "LOAD"}

_REFUSED = re.compile(
    r"read-only mode|disabled by configuration|disabled through configuration|configuration has been locked"
    r"|Table with name \S*(/|\.(csv|tsv|json|jsonl|ndjson|parquet|duckdb|db|gz|xlsx)\b)\S* does not exist",
    re.IGNORECASE,
)


def kind_of(statement: duckdb.Statement) -> str:
    """Return what kind of statement this is, in capital letters."""
    return str(statement.type).rpartition(".")[2]


def is_forbidden(statement: duckdb.Statement) -> bool:
    """Return whether a statement is refused before it is run."""
    return kind_of(statement) in _FORBIDDEN


def returns_rows(statement: duckdb.Statement) -> bool:
    """Return whether a statement is of a kind that answers with rows."""
    return kind_of(statement) not in _WITHOUT_ROWS


def explain(text: str) -> str:
    """Say what was wrong with a query: DuckDB's sentence in one line, then the place that it points at."""
    sentence, _, place = text.strip().partition("\n\nLINE ")
    if _REFUSED.search(sentence):
        return READ_ONLY
    in_one_line = " ".join(line.strip() for line in sentence.splitlines() if line.strip())
    return f"{in_one_line}\nLINE {place}" if place else in_one_line


def without_end(query: str) -> str:
    """Take a last semicolon, and a comment after it, off a statement: as part of another one it must not have them."""
    import duckdb

    raw = query.encode()
    end = len(raw)
    for offset, kind in reversed(duckdb.tokenize(query)):
        if raw[offset : offset + 1] != b";" and not str(kind).endswith("comment"):
            break
        end = offset
    return raw[:end].decode(errors="replace")
