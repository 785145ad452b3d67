"""The statements of one write transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from otel_processor.model import Alert
from otel_processor.pricing import Pricer
from otel_processor.recording import alert_statements
from otel_processor.recording.counting import count_anew, runs_concerned
from otel_processor.recording.delta_rows import call_columns, run_columns, trace_columns
from otel_processor.recording.preparing import Batch
from otel_processor.runs.records import Delta, NamedAgent, RunSummary
from otel_processor.store.columns import (
    CALLS,
    MEMBER,
    RUNS,
    SPANS,
    TRACE_RUNS,
    WRITERS,
    Columns,
    as_list,
    dump,
    unnested,
)
from otel_processor.store.totals import recount

if TYPE_CHECKING:
    import duckdb

_MAX_NS = (1 << 63) - 1


def insert_spans(connection: duckdb.DuckDBPyConnection, spans: Batch) -> None:
    """Insert spans that are not stored yet."""
    SPANS.insert(connection, spans.columns)


class Removed(NamedTuple):
    """What was decided before."""

    were_over: dict[str, int]
    """Runs that were over, and since when (µs)."""
    were_in: dict[str, str]
    """The runs of traces."""


def remove_rows(connection: duckdb.DuckDBPyConnection, trace_ids: set[str], run_ids: set[str]) -> Removed:
    """Remove what was decided about these traces and runs, to decide it anew."""
    connection.execute(f"delete from call_rows where trace_id in ({MEMBER})", {"ids": as_list(trace_ids)})
    links = connection.execute(
        f"delete from trace_runs where trace_id in ({MEMBER}) returning trace_id, run_id", {"ids": as_list(trace_ids)}
    ).fetchall()
    were_over = _remove_runs(connection, run_ids)
    recount(connection, run_ids)
    return Removed(were_over, dict(links))


def write_delta(connection: duckdb.DuckDBPyConnection, delta: Delta, pricer: Pricer) -> list[Alert]:
    """Write calls, runs with what is counted of them, traces and alerts; return alerts as `write_alerts` does."""
    concerned = runs_concerned(connection, delta)
    concerned |= _remove_retold(connection, delta)
    CALLS.insert(connection, call_columns(delta.calls, pricer))
    _name_agents(connection, delta.named_agents)
    if delta.traces:
        latest = {trace.trace_id: trace for trace in delta.traces}
        connection.execute(f"delete from trace_runs where trace_id in ({MEMBER})", {"ids": as_list(latest)})
        TRACE_RUNS.insert(connection, trace_columns(latest.values()))
    runs = {run.run_id: run for run in delta.runs}
    if runs:
        were_over = _remove_runs(connection, runs)
        RUNS.insert(connection, run_columns(runs.values()))
        alert_statements.reopen_alerts(connection, going_on(runs.values(), were_over))
    count_anew(connection, delta, concerned)
    return alert_statements.write_decided(connection, delta.alerts, runs, delta.resolutions)


def going_on(runs: Iterable[RunSummary], were_over: Mapping[str, int]) -> dict[str, int]:
    """Return which of the runs that were over go on after all."""
    return {run.run_id: were_over[run.run_id] for run in runs if run.run_id in were_over and run.ended_ns is None}


def _remove_runs(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]) -> dict[str, int]:
    """Remove the rows of these runs; return which of them were over, and since when (µs)."""
    rows = connection.execute(
        f"delete from run_rows where run_id in ({MEMBER}) returning run_id, epoch_us(ended_at)", {"ids": as_list(run_ids)}
    ).fetchall()
    return {run_id: at_us for run_id, at_us in rows if at_us is not None}


def _name_agents(connection: duckdb.DuckDBPyConnection, named: Sequence[NamedAgent]) -> None:
    """Say whose the calls of these traces are that have no agent; of two names for a trace the first holds."""
    if not named:
        return
    first = {one.trace_id: one.agent for one in reversed(named)}
    connection.execute(
        f"update call_rows set agent = n.agent from ({unnested({'trace_id': 'VARCHAR', 'agent': 'VARCHAR'})}) as n "
        "where call_rows.end_unix_nano >= $first_end_ns and call_rows.trace_id = n.trace_id and call_rows.agent is null",
        {
            "rows": dump({"trace_id": list(first), "agent": list(first.values())}),
            "first_end_ns": min(max(min(one.first_end_ns for one in named), 0), _MAX_NS),
        },
    )


def _remove_retold(connection: duckdb.DuckDBPyConnection, delta: Delta) -> set[str]:
    """Remove calls that are told otherwise now, looking only where the run's order says that they are.

    Returns:
        the runs that they were declared for.
    """
    rows: list[tuple[str | None]] = []
    if delta.retold:
        keys = unnested({"trace_id": "VARCHAR", "span_id": "VARCHAR"})
        trace_ids, span_ids = zip(*delta.retold, strict=True)
        ends = [min(max(end_ns, 0), _MAX_NS) for end_ns in delta.retold.values()]
        rows = connection.execute(
            f"delete from call_rows using ({keys}) as k where call_rows.end_unix_nano between $first and $last "
            "and call_rows.trace_id = k.trace_id and call_rows.span_id = k.span_id returning declared_run_id",
            {"rows": dump({"trace_id": trace_ids, "span_id": span_ids}), "first": min(ends), "last": max(ends)},
        ).fetchall()
    return {run_id for (run_id,) in rows if run_id is not None}


def sign_in(connection: duckdb.DuckDBPyConnection, commit: str, row: Columns) -> None:
    """Say who wrote last, and what became of what this writer was given."""
    # Where an older version wrote last, which keeps no totals, they stay marked as behind until all are counted.
    connection.execute(
        "update meta set counted_by = case when counted_by is not distinct from last_writer then $commit else counted_by end, "
        "last_writer = $commit",
        {"commit": commit},
    )
    connection.execute("delete from writers where writer_id = $writer_id", {"writer_id": row["writer_id"][0]})
    WRITERS.insert(connection, row)
