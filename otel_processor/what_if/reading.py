"""Stored spans, read for a moment and a few runs at a time: writers get in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_processor.recording import looking_up
from otel_processor.recording.preparing import read_without_tags
from otel_processor.recording.span_rows import spans_of_columns
from otel_processor.store.columns import as_list
from otel_processor.store.opening import open_read_only
from otel_processor.store.scripts import what_if_statement
from otel_processor.what_if.choosing import Together

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from otel_processor.model import Reading, SpanRecord
    from otel_processor.runs.records import KeptEvidence
    from otel_processor.store.columns import Columns

SPANS_AT_ONCE = 2_000
"""Spans that are read together; what belongs together is, however much it is."""

BYTES_AT_ONCE = 32 << 20
"""Text that is in memory at once."""

BYTES_AT_MOST = 128 << 20
"""Text of runs that cannot be judged one without the other."""


@dataclass(frozen=True, slots=True)
class StoredSpan:
    """A span as it is stored, and what it says."""

    span: SpanRecord
    reading: Reading
    was_altered: bool
    kept: KeptEvidence | None


@dataclass(slots=True)
class StoredRuns:
    """The columns of some spans, not taken apart yet."""

    columns: Columns
    evidence: dict[tuple[str, str], KeptEvidence]

    def spans(self) -> list[StoredSpan]:
        """Take the spans apart and read them."""
        return [
            StoredSpan(span, read_without_tags(span), cut is not None, self.evidence.get((span.trace_id, span.span_id)))
            for span, cut in zip(spans_of_columns(self.columns), self.columns["cut"], strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Portion:
    """What one look into the file brought."""

    runs: tuple[tuple[Together, StoredRuns], ...]
    too_large: tuple[Together, ...]


def portions(db: Path, together: Sequence[Together], *, timeout_seconds: float) -> Iterator[Portion]:
    """Read everything, a portion at a time; the file is free while the caller has one.

    Raises:
        StoreError: the database cannot be read.
    """
    waiting = list(reversed(together))
    while waiting:
        group = [waiting.pop()]
        spans = group[0].spans
        while waiting and spans + waiting[-1].spans <= SPANS_AT_ONCE:
            group.append(waiting.pop())
            spans += group[-1].spans
        connection = open_read_only(db, timeout_seconds=timeout_seconds)
        try:
            now, later, too_large = _by_length(connection, group)
            portion = Portion(_read(connection, now), too_large)
        finally:
            connection.close()
        waiting.extend(reversed(later))
        yield portion


def _by_length(
    connection: duckdb.DuckDBPyConnection, group: Sequence[Together]
) -> tuple[list[Together], list[Together], tuple[Together, ...]]:
    """Return what to read now, what to read later, and what never."""
    lengths = dict(connection.execute(what_if_statement("lengths_of_traces"), _asked(group)).fetchall())
    now: list[Together] = []
    too_large: list[Together] = []
    together = 0
    for position, each in enumerate(group):
        length = sum(lengths.get(trace_id) or 0 for trace_id in each.trace_ids)
        if length > BYTES_AT_MOST:
            too_large.append(each)
            continue
        together += length
        if now and together > BYTES_AT_ONCE:
            return now, list(group[position:]), tuple(too_large)
        now.append(each)
    return now, [], tuple(too_large)


def _read(connection: duckdb.DuckDBPyConnection, group: Sequence[Together]) -> tuple[tuple[Together, StoredRuns], ...]:
    if not group:
        return ()
    cursor = connection.execute(what_if_statement("spans_of_traces"), _asked(group))
    names = [column[0] for column in cursor.description or ()]
    of_trace = {trace_id: position for position, each in enumerate(group) for trace_id in each.trace_ids}
    found: list[list[tuple[object, ...]]] = [[] for _ in group]
    for row in cursor.fetchall():
        found[of_trace[row[0]]].append(row)
    evidence = looking_up.stored_evidence(connection, of_trace)
    return tuple(
        (each, StoredRuns({name: [row[index] for row in rows] for index, name in enumerate(names)}, evidence))
        for each, rows in zip(group, found, strict=True)
    )


def _asked(group: Sequence[Together]) -> dict[str, object]:
    return {
        "trace_ids": as_list(trace_id for each in group for trace_id in each.trace_ids),
        "first": min(each.first_ns for each in group),
        "last": max(each.last_ns for each in group),
    }
