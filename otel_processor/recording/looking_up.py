"""What a writer asks of the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from otel_processor.model import History
from otel_processor.recording.preparing import kept_evidence
from otel_processor.runs.conversations import StoredRun
from otel_processor.runs.records import KeptEvidence
from otel_processor.store.columns import Columns, as_list, dump, encodable
from otel_processor.store.scripts import recording_statement

if TYPE_CHECKING:
    import duckdb


def span_counts(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str]) -> dict[str, int]:
    """Return how many spans of each trace are stored."""
    rows = connection.execute(recording_statement("span_counts"), {"trace_ids": as_list(trace_ids)}).fetchall()
    return {str(trace_id): int(count) for trace_id, count in rows}


def known_spans(connection: duckdb.DuckDBPyConnection, columns: Columns, positions: Sequence[int]) -> set[tuple[str, str]]:
    """Return which of some spans are stored already, by (trace id, span id).

    Args:
        connection: to the store.
        columns: of spans.
        positions: of those that are looked for.
    """
    starts = [columns["start_unix_nano"][at] for at in positions]
    rows = {name: [columns[name][at] for at in positions] for name in ("trace_id", "span_id")}
    asked = {"rows": dump(rows), "lowest": min(starts), "highest": max(starts)}
    return set(connection.execute(recording_statement("known_spans"), asked).fetchall())


def stored_columns(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str]) -> Columns:
    """Return all stored spans of these traces."""
    return _columns(connection.execute(recording_statement("spans_of_traces"), {"trace_ids": as_list(trace_ids)}))


def latest_columns(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str], *, before_ns: int, at_most: int) -> Columns:
    """Return the latest stored spans of these traces that ended before a moment."""
    asked = {"trace_ids": as_list(trace_ids), "before_ns": before_ns, "at_most": at_most}
    return _columns(connection.execute(recording_statement("latest_spans_of_traces"), asked))


def _columns(cursor: duckdb.DuckDBPyConnection) -> Columns:
    names = [column[0] for column in cursor.description or ()]
    rows = cursor.fetchall()
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def lately_seen_runs(
    connection: duckdb.DuckDBPyConnection, *, since_us: int, at_most: int
) -> list[tuple[str, str | None, int, int, str | None]]:
    """Return runs that were seen since a microsecond, the latest first.

    Returns:
        for each its id, service, beginning and end in nanoseconds, and the conversation that it is a stretch of.
    """
    return connection.execute(recording_statement("lately_seen_runs"), {"since_us": since_us, "at_most": at_most}).fetchall()


def stored_evidence(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str]) -> dict[tuple[str, str], KeptEvidence]:
    """Return what altered calls of these traces were compared by."""
    rows = connection.execute(recording_statement("kept_evidence"), {"trace_ids": as_list(trace_ids)}).fetchall()
    return {(trace_id, span_id): kept_evidence(signature, text) for trace_id, span_id, signature, text in rows}


def links_of_same_runs(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str]) -> set[tuple[str, str]]:
    """Return (trace, run) of all traces that share a run with these, directly or through other traces."""
    traces, asked = set(trace_ids), set[str]()
    links: set[tuple[str, str]] = set()
    while traces - asked:
        asked = set(traces)
        links |= set(connection.execute(recording_statement("traces_of_same_runs"), {"trace_ids": as_list(asked)}).fetchall())
        traces |= {trace_id for trace_id, _ in links}
    return links


def traces_of_same_runs(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return all traces that share a run with these, directly or through other traces, and all their runs."""
    traces = set(trace_ids)
    links = links_of_same_runs(connection, traces)
    return traces | {trace_id for trace_id, _ in links}, {run_id for _, run_id in links}


def traces_of_runs(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]) -> list[tuple[str, str]]:
    """Return (trace, run) of all traces with calls in these runs."""
    return connection.execute(recording_statement("traces_of_runs"), {"run_ids": as_list(run_ids)}).fetchall()


def conversation_runs(
    connection: duckdb.DuckDBPyConnection, service: str, conversation_id: str, being_replaced: Iterable[str]
) -> list[StoredRun]:
    """Return the runs of a conversation that are not decided anew just now."""
    return connection.execute(
        recording_statement("conversation_runs"),
        {
            "service": encodable(service),
            "conversation_id": encodable(conversation_id),
            "being_replaced": as_list(being_replaced),
        },
    ).fetchall()


def task_history(
    connection: duckdb.DuckDBPyConnection, task: str, before_ns: int, least: int, being_replaced: Iterable[str]
) -> History | None:
    """Return what the healthy runs of a task used, or None where there are fewer of them than `least`."""
    found = connection.execute(
        recording_statement("task_history"),
        {
            "task": encodable(task),
            "before_us": before_ns // 1_000,
            "least": least,
            "being_replaced": as_list(being_replaced),
        },
    ).fetchone()
    return History(*found) if found is not None and found[0] >= least else None


def run_reasons(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]) -> dict[str, tuple[str, str | None]]:
    """Return why runs ended and what they were flagged with, as it is stored."""
    rows = connection.execute(recording_statement("run_reasons"), {"run_ids": as_list(run_ids)}).fetchall()
    return {run_id: (stop_reason, flagged_reason) for run_id, stop_reason, flagged_reason in rows}


def last_commit(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return who committed last, and which of its commits it was."""
    row = connection.execute("select last_writer from meta").fetchone()
    return None if row is None else row[0]
