"""A database without the room that removed rows left: written anew beside itself, and put in its own place."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from otel_processor.errors import StoreBusyError, StoreError, StoreUnavailableError
from otel_processor.store.database import ROW_GROUP_SIZE, STORAGE_VERSION, Database
from otel_processor.store.opening import quoted, resolved, translate
from otel_processor.store.placing import private, remove, sync, sync_folder
from otel_processor.store.sizes import measure

if TYPE_CHECKING:
    import duckdb

MEMORY_LIMIT = "512MB"
"""What copying may take; more than that goes through a folder beside the copy."""

_TABLES = """
    select schema_name, table_name from duckdb_tables()
    where database_name = 'store' and not internal and not temporary order by all
"""


@dataclass(frozen=True, slots=True)
class Compacted:
    """How large a database file was, and is, in bytes."""

    before: int
    after: int


def compact(db: str | Path, *, timeout_seconds: float) -> Compacted:
    """Write a database anew, so that its file holds no more than its rows take.

    The old file is locked until the new one has its name: writers wait or spool, and then write to the new one. Whatever goes
    wrong before, and a `kill -9`, leaves the old file as it was.

    Args:
        db: the database file.
        timeout_seconds: how long to wait for whoever holds it.

    Raises:
        StoreError: it is not there, is none of ours, or cannot be replaced.
        StoreBusyError: somebody held it for longer than that.
    """
    path = resolved(db)
    database = Database(path)
    try:
        with database.hold(timeout_seconds=timeout_seconds) as connection:
            # Only who holds the database makes this file: whatever is there, somebody left when he died.
            fresh = leftover_of(path)
            _remove_all(fresh)
            try:
                with private():
                    return _rewrite(connection, path, fresh)
            finally:
                _remove_all(fresh)
    finally:
        database.close()


def leftover_of(path: Path) -> Path:
    """Return where the new file of a database is made."""
    return path.with_name(f"{path.name}.compacting")


def limit_memory(connection: duckdb.DuckDBPyConnection, beside: Path) -> Path:
    """Bound what copying takes of memory; return the folder that takes the rest, which is to be removed then."""
    folder = beside.with_name(f"{beside.name}.tmp")
    connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
    connection.execute(f"set temp_directory = '{quoted(folder)}'")
    return folder


def _rewrite(connection: duckdb.DuckDBPyConnection, path: Path, fresh: Path) -> Compacted:
    import duckdb

    try:
        if not _is_ours(connection):
            raise StoreError(f"{path} is a DuckDB database, and otel-processor did not make it; give another path with --db")
        # What a writer that died left in the write-ahead log goes into the file first.
        connection.execute("checkpoint store")
        _check_room(path, measure(connection).used_bytes)
        found = path.stat()
        limit_memory(connection, fresh)
        options = f"type duckdb, row_group_size {ROW_GROUP_SIZE}, storage_version '{STORAGE_VERSION}'"
        connection.execute(f"attach '{quoted(fresh)}' as fresh ({options})")
        try:
            connection.execute("copy from database store to fresh")
            _compare(connection)
        finally:
            connection.execute("detach fresh")
        if path.with_name(f"{path.name}.wal").exists() or fresh.with_name(f"{fresh.name}.wal").exists():
            raise StoreUnavailableError(f"{path} has a write-ahead log that is not taken over; nothing was changed, try again")
    except duckdb.Error as error:
        translated = translate(error, path)
        if isinstance(translated, StoreBusyError):
            raise translated from error
        reason = str(error).strip().splitlines()[0]
        raise StoreUnavailableError(f"{path} could not be written anew: {reason}; it is as it was") from error
    after = fresh.stat().st_size
    if after >= found.st_size:
        return Compacted(found.st_size, found.st_size)
    try:
        _keep_rights(fresh, found)
        sync(fresh)
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise StoreUnavailableError(f"{path} cannot be replaced: {error.strerror or error}; it is as it was") from error
    return Compacted(found.st_size, after)


def _is_ours(connection: duckdb.DuckDBPyConnection) -> bool:
    tables = {name for _, name in connection.execute(_TABLES).fetchall()}
    return {"meta", "spans", "call_rows"} <= tables


def _check_room(path: Path, needed: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise StoreUnavailableError(
            f"{path.parent} has {free / 1e6:,.0f} MB left, and the new file needs up to {needed / 1e6:,.0f} MB; make room first"
        )


def _compare(connection: duckdb.DuckDBPyConnection) -> None:
    """See that nothing was left behind."""
    for schema, table in connection.execute(_TABLES).fetchall():
        name = ".".join('"' + part.replace('"', '""') + '"' for part in (schema, table))
        before, after = connection.execute(
            f"select (select count(*) from store.{name}), (select count(*) from fresh.{name})"
        ).fetchall()[0]
        if before != after:
            raise StoreUnavailableError(f"the copy of {table} has {after:,} of {before:,} rows; nothing was changed")


def _keep_rights(fresh: Path, found: os.stat_result) -> None:
    """Let those in who could get in before: a file of another owner would shut its writers out."""
    made = fresh.stat()
    if hasattr(os, "chown") and (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
        os.chown(fresh, found.st_uid, found.st_gid)
    fresh.chmod(found.st_mode & 0o7777)


def _remove_all(fresh: Path) -> None:
    for ending in ("", ".wal", ".tmp"):
        remove(fresh.with_name(f"{fresh.name}{ending}"))
