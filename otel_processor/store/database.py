"""One database file, opened for each transaction and closed again."""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_processor.errors import StoreBusyError
from otel_processor.store.creating import create_schema
from otel_processor.store.opening import READERS_PAUSE_SECONDS, missing, quoted, resolved, retry_while_busy, translate
from otel_processor.store.sealing import SEAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import duckdb

STORAGE_VERSION = "v1.2.0"
"""Files that DuckDB 1.2 and later can open, whichever version made them."""

ROW_GROUP_SIZE = 16_384
"""Rows that are packed together.

Leaving the file packs the last, open group of each table anew: with DuckDB's own 122,880 rows that takes twice the time in
the mean, and the more the fuller the group is. Groups of both sizes may stand in one file.
"""

_ENGINE: Final[dict[str, str | bool | int | float | list[str]]] = {
    "threads": 2,
    "autoinstall_known_extensions": "false",
    # Leaving the file moves the log into it; doing that in the midst as well would pack the same rows twice.
    "checkpoint_threshold": "256MB",
}

_MAKING_SECONDS = 5.0
"""A file without its headers that is older than this is not about to become a database."""

_HEADER_BYTES = 3 * 4_096
"""Of the three headers of a DuckDB file: one that ends before holds nothing, its writer died or the disk was full."""

_MAGIC = slice(8, 12)

_IN_PROCESS: dict[str, threading.Lock] = {}
_IN_PROCESS_GUARD = threading.Lock()


def leave_at_once() -> bool:
    """Say that nothing follows: whoever waits for the file gets it."""
    return False


class Database:
    """A database file that this process writes to, one short transaction at a time.

    An in-memory DuckDB stays open and attaches the file for the length of a transaction: 4 ms instead of 20 ms for
    opening a DuckDB of its own each time. A forked child makes its own.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = resolved(path)
        self._engine: duckdb.DuckDBPyConnection | None = None
        self._is_inside = False
        self._schema_seen = False
        _databases.add(self)

    @contextmanager
    def write(
        self,
        *,
        timeout_seconds: float,
        on_wait: Callable[[], None] | None = None,
        stay: Callable[[], bool] = leave_at_once,
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a connection inside a write transaction; commit when the block ends, roll back when it raises.

        Args:
            timeout_seconds: how long to wait for whoever holds the file.
            on_wait: called once if somebody holds it.
            stay: asked after the commit; when it says True the file is held until the next transaction, which must come at
                once, or `leave`. What was committed is in the write-ahead log until then.

        Raises:
            StoreBusyError: somebody held the file for longer than that.
            StoreUnavailableError: it cannot be opened or written (rights, space).
            SchemaVersionError: it belongs to a newer version of this package.
            SealedError: it is a copy to be shared, which nobody writes to.
        """
        import duckdb

        with self._alone(timeout_seconds):
            was_held = self._is_inside
            connection = retry_while_busy(self._attach, timeout_seconds=timeout_seconds, on_wait=on_wait)
            try:
                connection.execute("begin")
                if not was_held:
                    self._ensure_schema(connection)
                yield connection
                connection.execute("commit")
            except BaseException as error:
                self._leave(connection, "rollback")
                if isinstance(error, duckdb.OperationalError | duckdb.FatalException | duckdb.InternalError):
                    # The engine may be poisoned (a full disk invalidates it); the next transaction gets a new one.
                    self.close()
                    raise translate(error, self.path) from error
                raise
            else:
                self._is_inside = stay()
                if not self._is_inside:
                    self._leave(connection)

    @contextmanager
    def hold(self, *, timeout_seconds: float) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a connection to the file, attached as `store`, that shuts all others out, and no transaction.

        Args:
            timeout_seconds: how long to wait for whoever holds the file.

        Raises:
            StoreError: as `write`, but nothing is looked at and nothing made in the file.
        """
        if not self.path.exists():
            raise missing(self.path)
        with self._alone(timeout_seconds):
            # Nobody spools this: it looks as often as a reader does, and so gets a turn among busy writers.
            connection = retry_while_busy(
                self._attach, timeout_seconds=timeout_seconds, longest_pause_seconds=READERS_PAUSE_SECONDS
            )
            try:
                yield connection
            finally:
                self._leave(connection)

    @contextmanager
    def _alone(self, timeout_seconds: float) -> Iterator[None]:
        """Keep the other threads of this process away, which the file's own lock does not."""
        lock = _lock_of(self.path)
        if not lock.acquire(timeout=max(timeout_seconds, 0.001)):
            raise StoreBusyError(f"{self.path} is held by another thread of this process")
        try:
            yield
        finally:
            lock.release()

    @property
    def is_held(self) -> bool:
        """Whether the last transaction stayed."""
        return self._is_inside

    def leave(self) -> None:
        """Let go of the file where the last transaction stayed.

        Raises:
            StoreError: what is in the write-ahead log could not be moved; it stays there.
        """
        with _lock_of(self.path):
            if self._is_inside and self._engine is not None:
                self._leave(self._engine)

    def close(self) -> None:
        """Let go of the in-memory engine; the next transaction makes another."""
        self._is_inside = False
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _abandon(self) -> None:
        """Leave the engine to the parent of this forked process, for good.

        DuckDB's threads did not come along: even letting go of the object would wait for them for ever.
        """
        self._is_inside = False
        engine, self._engine = self._engine, None
        if engine is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))

    def _attach(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        if self._engine is None:
            self._engine = duckdb.connect(":memory:", config=_ENGINE)
        engine = self._engine
        if self._is_inside:
            return engine
        name = quoted(self.path)
        before = identity(self.path)
        try:
            options = f"type duckdb, row_group_size {ROW_GROUP_SIZE}"
            try:
                engine.execute(f"attach '{name}' as store ({options}, storage_version '{STORAGE_VERSION}')")
            except duckdb.InvalidInputException as error:
                if "storage version" not in str(error):
                    raise
                # Somebody made the file with the defaults of a newer DuckDB: it stays what it is.
                engine.execute(f"attach '{name}' as store ({options})")
            if before is not None and identity(self.path) != before:
                # Opened, and replaced before it was locked: what is written to it now, nobody would see again.
                engine.execute("detach store")
                raise StoreBusyError(f"{self.path} is being replaced by another process")
            engine.execute("use store")
        except duckdb.Error as error:
            translated = self._begun(error) or translate(error, self.path)
            if not isinstance(translated, StoreBusyError) or isinstance(error, duckdb.InterruptException):
                # The engine may be poisoned, or have the file half attached.
                self.close()
            raise translated from error
        return engine

    def _begun(self, error: duckdb.Error) -> StoreBusyError | None:
        """Return how to go on where the file is not whole yet: somebody is making it, or came to no end and it can go."""
        said = str(error)
        try:
            found = self.path.stat()
            with self.path.open("rb") as file:
                is_ours = file.read(_MAGIC.stop)[_MAGIC] == b"DUCK" and "Could not read enough bytes" in said
            is_empty = not found.st_size and "not a valid DuckDB database" in said
            if (
                not (is_empty or is_ours)
                or found.st_size >= _HEADER_BYTES
                or self.path.with_name(f"{self.path.name}.wal").exists()
            ):
                return None
            if time.time() - found.st_mtime > _MAKING_SECONDS:
                self.path.unlink()
        except OSError:
            return None
        return StoreBusyError(f"{self.path} is being made by another process")

    def _leave(self, connection: duckdb.DuckDBPyConnection, *before: str) -> None:
        import duckdb

        self._is_inside = False
        try:
            for statement in (*before, "use memory", "detach store"):
                connection.execute(statement)
        except duckdb.Error as error:
            self.close()
            if not before:
                # The commit went through; only the clean-up of the write-ahead log did not.
                raise translate(error, self.path) from error

    def _ensure_schema(self, connection: duckdb.DuckDBPyConnection) -> None:
        if self._schema_seen:
            # Somebody may have removed the file in the meantime: asking the catalog is cheap.
            known = connection.execute(
                "select table_name from duckdb_tables() where database_name = 'store' and table_name in ('meta', $seal)",
                {"seal": SEAL},
            ).fetchall()
            if known == [("meta",)]:
                return
        create_schema(connection)
        self._schema_seen = True


def identity(path: Path) -> tuple[int, int] | None:
    """Return which file a name stands for at the moment; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _lock_of(path: Path) -> threading.Lock:
    with _IN_PROCESS_GUARD:
        return _IN_PROCESS.setdefault(str(path.resolve()), threading.Lock())


_databases: weakref.WeakSet[Database] = weakref.WeakSet()


def _begin_in_child() -> None:
    global _IN_PROCESS_GUARD
    _IN_PROCESS_GUARD = threading.Lock()
    _IN_PROCESS.clear()
    for database in list(_databases):
        database._abandon()


os.register_at_fork(after_in_child=_begin_in_child)
