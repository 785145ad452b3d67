"""What is counted of runs: kept in `run_totals`, so that pages need not count all calls each time (ADR 0007)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from otel_processor.store.columns import as_list
from otel_processor.store.scripts import definition

if TYPE_CHECKING:
    import duckdb

_LAST_NS = (1 << 63) - 1


def recount(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str], *, first_end_ns: int | None = None) -> None:
    """Count these runs anew, with the calls that they have now.

    Args:
        connection: inside a write transaction.
        run_ids: all runs whose calls changed, those that lost one included.
        first_end_ns: nanoseconds before which no call ended that they got; None: they got none.
    """
    chosen = {"run_ids": as_list(run_ids)}
    if chosen["run_ids"] == "[]":
        return
    # A call that they had before is counted in one of them: none of all these calls ended before the earliest known end.
    counted_before = connection.execute(
        "delete from run_totals where run_id in (select unnest(from_json($run_ids::JSON, '[\"VARCHAR\"]'))) "
        "returning first_end_unix_nano",
        chosen,
    ).fetchall()
    ends = [end_ns for (end_ns,) in counted_before]
    if first_end_ns is not None:
        ends.append(max(min(first_end_ns, _LAST_NS), 0))
    if ends:
        connection.execute(
            f"insert into run_totals by name {counted(definition('totals', 'calls_of_runs'))}",
            chosen | {"first_end_ns": min(ends)},
        )


def recount_all(connection: duckdb.DuckDBPyConnection) -> None:
    """Count all runs anew: they were never counted, or by a version that keeps no totals.

    Args:
        connection: inside a write transaction, on tables and views as they are now.
    """
    connection.execute("delete from run_totals")
    connection.execute(f"insert into run_totals by name {counted('select * from calls')}")
    connection.execute("update meta set counted_by = last_writer")


def recount_if_behind(connection: duckdb.DuckDBPyConnection) -> bool:
    """Count all runs anew where a version wrote that keeps no totals; return whether that was so.

    Args:
        connection: inside a write transaction.
    """
    behind = bool(connection.execute("select 1 from meta where counted_by is distinct from last_writer").fetchall())
    if behind:
        recount_all(connection)
    return behind


def counted(calls: str) -> str:
    """Return a query that counts the runs of some calls, a row per run.

    Args:
        calls: a query for rows of the view `calls`, always all of a run.
    """
    return f"with chosen_calls as ({calls}) select * from ({definition('totals', 'counted')})"
