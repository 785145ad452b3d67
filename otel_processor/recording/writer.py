"""Who writes, what became of what it was given, and what it says about that."""

from __future__ import annotations

import logging
import os
import socket
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otel_processor.errors import StoreBusyError
from otel_processor.recording import writing
from otel_processor.store import spool
from otel_processor.store.status import clear_status, write_status
from otel_processor.version import package_version

if TYPE_CHECKING:
    import duckdb

_log = logging.getLogger(__name__)

_SECONDS_BETWEEN_WARNINGS = 60.0


@dataclass(frozen=True, slots=True)
class Counters:
    """What became of the spans that one writer was given."""

    written: int = 0
    duplicates: int = 0
    cut: int = 0
    """Values shortened."""
    spooled: int = 0
    dropped: int = 0
    lock_waits: int = 0
    """Times that another process held the file."""
    put_away: int = 0
    """Open runs forgotten to make room for others; they come back from the store."""


class Writer:
    """One process as a writer of one database. Its recorder holds the lock."""

    def __init__(self, path: Path) -> None:
        self.writer_id = uuid.uuid4().hex
        self.counters = Counters()
        self._path = path
        self.last_commit = ""
        """What the database says of the last commit, when it was ours."""
        self._commits = 0
        self._started_ns = time.time_ns()
        self._warned_at: dict[str, float] = {}
        self._unreachable = False

    def count(self, **more: int) -> None:
        """Add to the counters, by name."""
        self.counters = replace(self.counters, **{name: getattr(self.counters, name) + n for name, n in more.items()})

    def sign_in(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Say in the database who wrote last, and how it stands."""
        counters = self.counters
        row: dict[str, Any] = {
            "writer_id": self.writer_id,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": package_version(),
            "started_ns": self._started_ns,
            "last_write_ns": time.time_ns(),
            "written": counters.written,
            "duplicates": counters.duplicates,
            "cut": counters.cut,
            "spooled": counters.spooled,
            "dropped": counters.dropped,
            "lock_waits": counters.lock_waits,
            "put_away": counters.put_away,
        }
        # Numbered, so that an older copy of the file put in its place is not taken for our own last word.
        self._commits += 1
        self.last_commit = f"{self.writer_id}:{self._commits}"
        writing.sign_in(connection, self.last_commit, {name: [value] for name, value in row.items()})

    def reached(self) -> None:
        """Note that a write went through; take back what was said while none did."""
        if self._unreachable:
            self._unreachable = False
            clear_status(self._path, self.writer_id)
            _log.warning("%s can be written again", self._path)

    def failed(self, error: Exception) -> None:
        """Say that the database, or its spool, cannot be written: in the log at once, then at most once a minute."""
        busy = isinstance(error, StoreBusyError)
        if not busy:
            self._leave_word(str(error))
        if not self.may_warn("store"):
            return
        folder = spool.folder_of(self._path)
        if busy:
            _log.warning("%s; spans wait in %s and are taken along later", error, folder)
        else:
            _log.warning("%s; spans go to %s while that is possible, and are dropped and counted when not", error, folder)

    def refused(self, error: Exception) -> None:
        """Say that DuckDB refuses a span."""
        if self.may_warn("row"):
            _log.warning("a span could not be stored and is dropped: %s", error)

    def overrun(self, spans: int) -> None:
        """Say that spans ended faster than they could be stored."""
        if self.may_warn("queue"):
            _log.warning("%d spans found no room in the queue and are lost; OTEL_BSP_MAX_QUEUE_SIZE makes it longer", spans)

    def bug(self, message: str, *values: object) -> None:
        """Say what went wrong on our side, with the traceback; called inside the handler of the error."""
        if self.may_warn("bug"):
            _log.exception(message, *values)

    def may_warn(self, about: str) -> bool:
        """Return whether a minute has gone by since this was last asked about the same thing."""
        now = time.monotonic()
        if now - self._warned_at.get(about, -_SECONDS_BETWEEN_WARNINGS) < _SECONDS_BETWEEN_WARNINGS:
            return False
        self._warned_at[about] = now
        return True

    def _leave_word(self, reason: str) -> None:
        """Leave word for `doctor` where it can be read although the database cannot be written."""
        self._unreachable = True
        values = {
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._started_ns / 1e9)),
            "reason": reason,
            "spooled": self.counters.spooled,
            "dropped": self.counters.dropped,
        }
        write_status(self._path, self.writer_id, values)
