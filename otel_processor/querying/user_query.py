"""One query of a person at a page: bounded in rows, time and memory, and cancelled from another thread."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otel_processor.errors import ConfigError, QueryError, QueryStoppedError, StoreError
from otel_processor.querying.bounds import Bounds
from otel_processor.querying.formats import require_pyarrow
from otel_processor.store.opening import resolved

if TYPE_CHECKING:
    import pyarrow as pa

_KINDS: dict[str, type[QueryError | StoreError]] = {"stopped": QueryStoppedError, "refused": QueryError, "store": StoreError}

_START_SECONDS = 15.0
"""How long the query's process may take to begin and to wait for the file, beyond the query's own time."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query found."""

    table: pa.Table
    """The rows, values as they are; columns of one name are told apart."""

    types: tuple[str, ...]
    """What DuckDB calls the types of the columns."""

    more: str | None
    """Why there are more rows than these: `rows` or `bytes`, the bound that was reached; None: these are all."""

    cells_cut: int
    """Texts that are longer than the bound and were cut."""

    took_seconds: float

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.column_names)


class UserQuery:
    """Runs one text, once, in a process of its own. `cancel` may be called from any thread, also before and after.

    A process, since only a process can be stopped inside of a value that grows to gigabytes, has a bound on its memory that
    holds, leaves the file the instant that it ends, and keeps other questions of the page going: DuckDB opens a file once in a
    process, with one set of settings.
    """

    def __init__(self, db: str | Path, text: str, bounds: Bounds | None = None) -> None:
        """Set up the query.

        Args:
            db: the database file.
            text: SQL; of several statements the last one's rows are the result.
            bounds: what it may take.

        Raises:
            ConfigError: pyarrow is not installed.
        """
        require_pyarrow()
        self._db = resolved(db)
        self._text = text
        self._bounds = bounds or Bounds()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False
        self._begun = False

    def run(self) -> QueryResult:
        """Run the query; returns when it is done, refused, too late or cancelled, and the file is free then.

        Raises:
            QueryError: it is wrong or refused, in one line, after which DuckDB's lines may follow that point at the place.
            QueryStoppedError: it took too long or was cancelled.
            StoreError: the database cannot be read.
        """
        request = self._request()
        process = self._start()
        late = self._bounds.timeout_seconds + _START_SECONDS
        try:
            reply, _ = process.communicate(request, timeout=late)
        except subprocess.TimeoutExpired:
            reply = b""
        finally:
            _end(process)
        if self._cancelled:
            raise QueryStoppedError("the query was cancelled")
        return self._result(reply)

    def cancel(self) -> None:
        """Stop the query, or keep it from being begun."""
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._begun:
                raise ConfigError("this query was run already; make another one")
            self._begun = True
            if self._cancelled:
                raise QueryStoppedError("the query was cancelled")
            self._process = subprocess.Popen(
                # -P: a file in the working folder is no module of ours.
                [sys.executable, "-P", "-m", "otel_processor.querying.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": _python_path()},
            )
            return self._process

    def _request(self) -> bytes:
        return json.dumps(
            {
                "db": str(self._db),
                "text": self._text,
                "timeout_seconds": self._bounds.timeout_seconds,
                "limit_rows": self._bounds.limit_rows,
                "max_bytes": self._bounds.max_bytes,
                "max_cell_chars": self._bounds.max_cell_chars,
            }
        ).encode()

    def _result(self, reply: bytes) -> QueryResult:
        end = reply.find(b"\n")
        if end < 0:
            raise self._ended()
        head: dict[str, Any] = json.loads(reply[:end])
        if "error" in head:
            raise _KINDS[head["kind"]](head["error"])
        import pyarrow as pa

        try:
            table = pa.ipc.open_stream(pa.py_buffer(memoryview(reply)[end + 1 :])).read_all()
        except (pa.ArrowInvalid, OSError) as error:
            raise self._ended() from error
        return QueryResult(table, tuple(head["types"]), head["more"], head["cells_cut"], head["took_seconds"])

    def _ended(self) -> QueryStoppedError:
        most = f"{self._bounds.timeout_seconds:g} s"
        return QueryStoppedError(f"the query was stopped: it took longer than {most} or more memory than it may use")


def _python_path() -> str:
    """Return where the child finds this package, wherever this process found it."""
    ours = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join(filter(None, (ours, os.environ.get("PYTHONPATH"))))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
    process.wait()
