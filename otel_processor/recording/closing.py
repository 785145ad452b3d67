"""Runs that nothing closed are closed once they are idle for too long; spans that come after all open them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.model import StopReason
from otel_processor.recording import looking_up
from otel_processor.runs.ending import status_of
from otel_processor.store.columns import as_list, dump, unnested
from otel_processor.store.scripts import recording_statement

if TYPE_CHECKING:
    import duckdb

    from otel_processor.runs.policies import Policies

AT_ONCE = 200
"""Runs that one pass closes."""


def close_idle(
    connection: duckdb.DuckDBPyConnection, policies: Policies, now_ns: int, *, await_arrivals: bool, at_most: int = AT_ONCE
) -> int:
    """Close open runs that are idle for longer than their policy lets them, the oldest first; return how many.

    The row was decided with the last span (`run_rows.idle_reason`), so nothing of the run is read again. Its alerts are over.
    What comes after all makes the row anew, from all that is known.

    Args:
        connection: inside a write transaction.
        policies: say how long is too long.
        now_ns: the time, nanoseconds since the epoch.
        await_arrivals: a run also counts as going on while spans of it arrive, however old they are: a clock may be slow,
            a collector may have held them. Files are read as they are.
        at_most: so many are closed.
    """
    idle = _idle_runs(connection, policies, now_ns, at_most)
    if await_arrivals and idle:
        idle = _without_arrivals(connection, idle)
    if idle:
        _close(connection, {run_id: reason for run_id, (reason, _) in idle.items()})
    # A stand-alone guard that died cannot say any more that its alerts are over.
    before_us = _before(now_ns, policies.idle_seconds()[None])
    connection.execute(recording_statement("end_lonely_alerts"), {"before_us": before_us})
    return len(idle)


def count_open(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many runs are going on."""
    row = connection.execute(recording_statement("open_runs")).fetchone()
    return 0 if row is None else int(row[0])


def _idle_runs(
    connection: duckdb.DuckDBPyConnection, policies: Policies, now_ns: int, at_most: int
) -> dict[str, tuple[StopReason, int]]:
    """Return runs of which no span is recent: why they ended then, and the microsecond since which nothing came."""
    since = {task_type: _before(now_ns, seconds) for task_type, seconds in policies.idle_seconds().items()}
    before_us = since.pop(None)
    rows = connection.execute(
        recording_statement("idle_runs"),
        {
            "before_us": before_us,
            "others": dump({"task_type": list(since), "before_us": list(since.values())}),
            "at_most": at_most,
        },
    ).fetchall()
    # Rows of an older version do not say why.
    return {run_id: (StopReason(reason or StopReason.ABANDONED), before) for run_id, reason, _, before in rows}


def _before(now_ns: int, idle_seconds: float) -> int:
    return max(now_ns // 1_000 - int(idle_seconds * 1e6), 0)


def _without_arrivals(
    connection: duckdb.DuckDBPyConnection, idle: dict[str, tuple[StopReason, int]]
) -> dict[str, tuple[StopReason, int]]:
    links = looking_up.traces_of_runs(connection, idle)
    rows = connection.execute(
        recording_statement("arrivals"),
        {
            "since_us": min(before for _, before in idle.values()),
            "trace_ids": as_list({trace_id for trace_id, _ in links}),
        },
    ).fetchall()
    arrived = dict(rows)
    going_on = {run_id for trace_id, run_id in links if run_id in idle and arrived.get(trace_id, -1) >= idle[run_id][1]}
    return {run_id: known for run_id, known in idle.items() if run_id not in going_on}


def _close(connection: duckdb.DuckDBPyConnection, reasons: dict[str, StopReason]) -> None:
    ended = unnested({"run_id": "VARCHAR", "stop_reason": "VARCHAR", "status": "VARCHAR"})
    told = {
        "run_id": list(reasons),
        "stop_reason": [str(reason) for reason in reasons.values()],
        "status": [status_of(reason) for reason in reasons.values()],
    }
    connection.execute(
        "update run_rows set stop_reason = e.stop_reason, status = e.status, ended_at = last_seen_at, idle_reason = null "
        f"from ({ended}) as e where run_rows.run_id = e.run_id",
        {"rows": dump(told)},
    )
    # An alert may have been told ahead of spans that were lost.
    connection.execute(
        'update alerts set resolved_at = greatest(alerts."at", r.ended_at) from run_rows as r '
        "where alerts.run_id = r.run_id and alerts.resolved_at is null "
        "and r.run_id in (select unnest(from_json($run_ids::JSON, '[\"VARCHAR\"]')))",
        {"run_ids": as_list(reasons)},
    )
