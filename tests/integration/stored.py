"""Looking into a database that others are writing to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from otel_processor.store.opening import open_read_only

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def rows(db: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with open_read_only(db, timeout_seconds=20) as connection:
        return connection.execute(sql).fetchall()


def value(db: Path, sql: str) -> Any:
    """The one value that a query returns."""
    ((only,),) = rows(db, sql)
    return only


def stored_ids(db: Path) -> list[str]:
    """The ids of all stored spans, as often as they are stored."""
    return sorted(row[0] for row in rows(db, "select span_id from spans"))


def eventually(condition: Callable[[], Any], *, seconds: float, what: str) -> Any:
    """What the condition answers once it is true; fails when that takes longer than it may."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


CALLS = """
    select run_id, trace_id, span_id, kind, agent, tool, step, progress, repeats, flat_steps, signature, fingerprint, is_error,
           arguments, result
    from calls order by all
"""

RUNS = """
    select run_id, task, task_type, agent, service, started_at, ended_at, steps, tool_calls, model_calls, flat_steps,
           longest_flat_streak, tokens, wasted_tokens, stop_reason, flagged_reason, status
    from runs order by all
"""

ALERTS = "select run_id, pattern, count(*) from alerts group by all order by all"
