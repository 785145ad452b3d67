"""Getting into the database file: nobody holds it, everybody waits a little, and the one who holds it is named.

A DuckDB file has one writing process or several reading ones, never both (ADR 0001). So each access opens, does one
thing and closes; who finds the file locked tries again after a random pause.
"""

from __future__ import annotations

import random
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from otel_processor.errors import (
    NoDatabaseError,
    StoreBusyError,
    StoreError,
    StoreFullError,
    StoreMemoryError,
    StoreUnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

T = TypeVar("T")

FIRST_PAUSE_SECONDS = 0.005
LONGEST_PAUSE_SECONDS = 0.2
READERS_PAUSE_SECONDS = 0.025
"""A reader looks more often: between writers who take turns the file is free for milliseconds only, and nobody spools a read."""

_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.*?)(?: \(PID (?P<pid>\d+)\))")


def retry_while_busy(
    attempt: Callable[[], T],
    *,
    timeout_seconds: float,
    on_wait: Callable[[], None] | None = None,
    longest_pause_seconds: float = LONGEST_PAUSE_SECONDS,
) -> T:
    """Call `attempt` until it no longer raises `StoreBusyError`, pausing at random between tries.

    The pauses grow from 5 ms to the longest one and are drawn at random, so that processes that collided once do not
    collide in step.

    Raises:
        StoreBusyError: still busy after `timeout_seconds`; its message names who holds the file.
    """
    deadline = time.monotonic() + timeout_seconds
    pause = FIRST_PAUSE_SECONDS
    waited = False
    while True:
        try:
            return attempt()
        except StoreBusyError:
            if not waited and on_wait is not None:
                on_wait()
            waited = True
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise
            time.sleep(min(remaining, random.uniform(pause / 2, pause)))  # noqa: S311 - spreads load, guards nothing
            pause = min(pause * 1.6, longest_pause_seconds)


def open_read_only(
    path: str | Path, *, timeout_seconds: float = 10.0, config: dict[str, Any] | None = None
) -> duckdb.DuckDBPyConnection:
    """Open the database for reading; close the connection soon, since writers wait for it.

    Raises:
        StoreError: there is no such database, or it cannot be opened.
        StoreBusyError: a writer held it for longer than `timeout_seconds`.
    """
    import duckdb

    path = resolved(path)
    if not path.exists():
        raise missing(path)

    def attempt() -> duckdb.DuckDBPyConnection:
        try:
            return duckdb.connect(str(path), read_only=True, config=config or {})
        except duckdb.Error as error:
            raise translate(error, path) from error

    return retry_while_busy(attempt, timeout_seconds=timeout_seconds, longest_pause_seconds=READERS_PAUSE_SECONDS)


def missing(path: Path) -> NoDatabaseError:
    """Return what to raise where there is no database."""
    return NoDatabaseError(f"there is no database at {path}; run an agent with it, or give another path with --db")


def resolved(path: str | Path) -> Path:
    """Return the one name of a database file, whatever link or relative path leads to it.

    Raises:
        StoreError: DuckDB would take the name for something else than a file.
    """
    real = Path(path).absolute().resolve()
    if "?" in str(real) or "\\" in str(real):
        raise StoreError(f"{real} cannot be a database: DuckDB reads `?` and `\\` in a name its own way; give another path")
    return real


def quoted(path: str | Path) -> str:
    """Return a path as it stands between quotes in a statement."""
    return str(path).replace("'", "''")


def connect(db: str | Path, *, timeout_seconds: float = 10.0) -> duckdb.DuckDBPyConnection:
    """Return a read-only DuckDB connection to the database, for queries of your own; close it soon, or use `with`.

    Raises:
        StoreError: there is no such database, or it cannot be opened.
        StoreBusyError: a writer held it for longer than `timeout_seconds`.
    """
    return open_read_only(db, timeout_seconds=timeout_seconds)


def translate(error: Exception, path: str | Path) -> StoreError:
    """Turn what DuckDB says on opening or committing into an error of ours: busy, unavailable or broken."""
    text = str(error)
    if "Could not set lock" in text or "Conflicting lock" in text:
        return StoreBusyError(f"{path} is held by {_holder(text)}")
    if "different configuration" in text or "already attached" in text or "nique file handle conflict" in text:
        return StoreBusyError(f"{path} is held by another connection of this process")
    if text.startswith("INTERRUPT"):
        # The interpreter is ending, or a signal came while the engine was opening the file: nothing is wrong with it.
        return StoreBusyError(f"{path} could not be opened for an interruption")
    if "not a valid DuckDB database" in text:
        return StoreError(f"{path} is not a DuckDB database; give another path with --db")
    first_line = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    kind: type[StoreError] = StoreUnavailableError
    if text.startswith("Out of Memory"):
        kind = StoreMemoryError
    elif "No space left" in text or "CHECKPOINT during DETACH failed" in text:
        kind = StoreFullError
    return kind(f"{path} cannot be used: {first_line}")


def _holder(text: str) -> str:
    found = _HOLDER.search(text)
    if not found:
        return "another process"
    pid = found["pid"]
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        words = ""
    # On one line, whatever was given to it: this is said in logs.
    return f"process {pid} ({' '.join((words or found['program']).split())[:120]})"
