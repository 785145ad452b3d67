"""Whose totals are counted anew with a delta: runs that get calls or lose some, and those that traces move between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.store.columns import as_list
from otel_processor.store.totals import recount

if TYPE_CHECKING:
    import duckdb

    from otel_processor.runs.records import Delta


def runs_concerned(connection: duckdb.DuckDBPyConnection, delta: Delta) -> set[str]:
    """Return the runs that the calls of a delta belong to as it is stored, before the delta is written."""
    trace_ids = {recorded.call.trace_id for recorded in delta.calls} | {trace_id for trace_id, _ in delta.retold}
    trace_ids |= {trace.trace_id for trace in delta.traces} | {named.trace_id for named in delta.named_agents}
    rows = connection.execute(
        "select run_id from trace_runs where trace_id in (select unnest(from_json($trace_ids::JSON, '[\"VARCHAR\"]')))",
        {"trace_ids": as_list(trace_ids)},
    ).fetchall()
    return {run_id for (run_id,) in rows}


def count_anew(connection: duckdb.DuckDBPyConnection, delta: Delta, concerned: set[str]) -> None:
    """Count these runs, and all that the delta names, once it is written.

    Args:
        connection: inside a write transaction.
        delta: what was written.
        concerned: runs that calls of it, or others that are gone, belonged to before.
    """
    run_ids = concerned | {run.run_id for run in delta.runs} | {trace.run_id for trace in delta.traces}
    run_ids |= {recorded.declared_run_id for recorded in delta.calls if recorded.declared_run_id}
    recount(connection, run_ids, first_end_ns=min((recorded.call.end_ns for recorded in delta.calls), default=None))
