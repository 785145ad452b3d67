"""The process in which a page's query runs: one request on standard input, one reply on standard output, and it is gone.

The reply is one line of JSON, followed by the rows as an Arrow stream unless it says what went wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

from otel_processor.errors import OtelProcessorError, QueryError, QueryStoppedError
from otel_processor.querying import bounds
from otel_processor.querying.connection import Querying, unique_names
from otel_processor.querying.cutting import Kept

GRACE_SECONDS = 2.0
"""How long a query that was stopped may take to notice it; inside of one huge value the engine does not look."""

_NO_MEMORY = "Out of Memory Error"

_ROWS_PER_BATCH = 64
"""So that long values are counted before many of them are there."""


def main() -> None:
    """Answer the request and end."""
    request = json.loads(sys.stdin.buffer.read())
    with _reply_only() as sink:
        answer(request, sink)
    # Threads of the engine that are inside of a value keep nobody waiting.
    os._exit(0)


def answer(request: dict[str, Any], sink: IO[bytes]) -> None:
    """Run the query of a request and write the reply."""
    bounds.limit_this_process()
    try:
        head, table = _run(request)
    except OtelProcessorError as error:
        kind = "stopped" if isinstance(error, QueryStoppedError) else "refused" if isinstance(error, QueryError) else "store"
        _write_head(sink, {"error": _too_much() if str(error).startswith(_NO_MEMORY) else str(error), "kind": kind})
        return
    except MemoryError:
        _write_head(sink, {"error": _too_much(), "kind": "refused"})
        return
    except Exception as error:  # noqa: BLE001 - whatever the engine or Arrow says of a strange query, a reader gets a sentence
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        _write_head(sink, {"error": f"the query failed: {first}", "kind": "refused"})
        return
    _write_head(sink, head)
    import pyarrow as pa

    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def _too_much() -> str:
    most = bounds.memory_bytes() >> 20
    return (
        f"the query needs more than the {most:,} MiB of memory that it may use; ask for fewer rows, or for parts of long values"
    )


def _run(request: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    longest = request["max_cell_chars"]
    settings = {**bounds.settings(), "arrow_large_buffer_size": "true"}
    with Querying(Path(request["db"]), timeout_seconds=request["timeout_seconds"], settings=settings) as querying:
        began = time.monotonic()
        watch = threading.Timer(request["timeout_seconds"] + GRACE_SECONDS, os._exit, (1,))
        watch.daemon = True
        watch.start()
        statement = querying.run_all_but_last(request["text"])
        found = querying.arrow(
            statement, limit=request["limit_rows"] + 1, longest_chars=longest + 1, rows_per_batch=_ROWS_PER_BATCH
        )
        kept = Kept(found.schema, limit_rows=request["limit_rows"], max_bytes=request["max_bytes"], max_cell_chars=longest)
        for batch in found.batches:
            if not kept.take(batch):
                break
    # The file is free from here on, and what is left to do is bounded.
    watch.cancel()
    table = kept.table.rename_columns(unique_names(kept.table.column_names))
    head = {
        "types": found.types,
        "more": kept.more,
        "cells_cut": kept.cells_cut,
        "took_seconds": time.monotonic() - began,
    }
    return head, table


def _write_head(sink: IO[bytes], head: dict[str, Any]) -> None:
    sink.write(json.dumps(head).encode() + b"\n")


@contextlib.contextmanager
def _reply_only() -> Any:
    """Give the place for the reply, to which nothing else can write that thinks it writes to standard output."""
    with os.fdopen(os.dup(1), "wb") as sink:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        yield sink


if __name__ == "__main__":
    main()
