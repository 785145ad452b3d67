"""The part of `doctor` that looks at how large a database is, and says how it becomes smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.cli.checks import Check, ok, warning
from otel_processor.cli.sizes import as_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

WORTH_COMPACTING_BYTES = 50_000_000
"""Room that is worth a word, where it is half of the file."""

LARGE_BYTES = 10_000_000_000


def look_at_size(db: Path, connection: duckdb.DuckDBPyConnection) -> Iterator[Check]:
    """Check how much of the file is in use, what keeps it from growing, and what a killed compaction left."""
    from otel_processor.errors import ConfigError
    from otel_processor.retention import KEEP_DAYS, MAX_SIZE, Retention
    from otel_processor.store.compacting import leftover_of
    from otel_processor.store.opening import resolved
    from otel_processor.store.sizes import measure

    size = measure(connection)
    told = f"{as_size(size.file_bytes)}, of which {as_size(size.live_bytes)} are in use"
    try:
        is_limited = Retention.from_environment().is_set
    except ConfigError:
        is_limited = True  # which limit it is, and what is wrong with it, is told where settings are looked at
    if size.free_bytes >= max(WORTH_COMPACTING_BYTES, size.file_bytes // 2):
        yield warning(
            "size", told, f"new spans go into the rest; to give it back to the disk: otel-processor compact --db '{db}'"
        )
    elif size.live_bytes >= LARGE_BYTES and not is_limited:
        yield warning(
            "size",
            f"{told}, and it grows",
            f"remove old runs: otel-processor prune --db '{db}' --older-than 30d, or set {KEEP_DAYS} or {MAX_SIZE}",
        )
    else:
        yield ok("size", told)
    leftover = leftover_of(resolved(db))
    if leftover.exists():
        yield warning(
            "compaction",
            f"{leftover} is there: a compaction goes on, or was killed",
            f"if none goes on, the next one removes it: otel-processor compact --db '{db}'",
        )
