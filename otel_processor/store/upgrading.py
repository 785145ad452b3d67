"""An older database brought up to date for those who only read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.errors import StoreBusyError, StoreError
from otel_processor.store.creating import SCHEMA_MAJOR, SCHEMA_MINOR
from otel_processor.store.database import Database
from otel_processor.store.opening import open_read_only
from otel_processor.store.totals import recount_if_behind

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb


def bring_up_to_date(path: Path, *, timeout_seconds: float = 2.0) -> bool:
    """Do what the first write of this version would do to an older database; return whether that was done.

    Quiet where it cannot be done now: there is no database of ours, it is busy, it must not be written.

    Args:
        path: the database file; it is not made where there is none.
        timeout_seconds: how long to wait for whoever holds the file.
    """
    import duckdb

    try:
        if not path.exists() or not _is_behind(path, timeout_seconds):
            return False
        database = Database(path)
        try:
            with database.write(timeout_seconds=timeout_seconds) as connection:
                recount_if_behind(connection)
        finally:
            database.close()
    except (StoreError, duckdb.Error):
        return False
    return True


def what_is_wrong(path: Path, *, timeout_seconds: float = 1.0) -> str | None:
    """Say why pages cannot read a database; None where they can, where there is none yet, and where it is busy.

    Args:
        path: the database file.
        timeout_seconds: how long to wait for whoever holds it.
    """
    try:
        if not path.exists():
            return None
        with open_read_only(path, timeout_seconds=timeout_seconds) as connection:
            unlike = why_unlike(connection)
    except StoreBusyError:
        return None
    except StoreError as error:
        return str(error)
    return None if unlike is None else f"{path}: {unlike}"


def why_unlike(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Say why a database lacks what queries of this version ask for; None where its schema is that of this version.

    Args:
        connection: to the database.
    """
    import duckdb

    known = f"{SCHEMA_MAJOR}.{SCHEMA_MINOR}"
    try:
        found = connection.execute("select schema_major, schema_minor from meta").fetchone()
    except duckdb.Error:
        found = None
    if found is None:
        return "it is a DuckDB database, and otel-processor did not make it; give another path with --db"
    if found[0] != SCHEMA_MAJOR:
        return f"its schema is {found[0]}.{found[1]}, this version understands {known}; install the version that made it"
    if found[1] < SCHEMA_MINOR:
        return f"its schema is {found[0]}.{found[1]}, older than {known}; the next write of this version brings it up to date"
    return None


def is_older(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a database is one of ours that the next write brings up to date.

    Args:
        connection: to the database.
    """
    import duckdb

    try:
        found = connection.execute("select schema_major, schema_minor from meta").fetchone()
    except duckdb.Error:
        return False
    return found is not None and found[0] == SCHEMA_MAJOR and found[1] < SCHEMA_MINOR


def _is_behind(path: Path, timeout_seconds: float) -> bool:
    with open_read_only(path, timeout_seconds=timeout_seconds) as connection:
        # All columns, since an older table lacks some.
        cursor = connection.execute("select * from meta where schema_major = $major", {"major": SCHEMA_MAJOR})
        names = [column[0] for column in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return any(row["schema_minor"] < SCHEMA_MINOR or row["counted_by"] != row["last_writer"] for row in rows)
