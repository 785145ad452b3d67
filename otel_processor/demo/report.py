"""What the tour reads back from the database: alerts as they fire, the summary, and whether all is as it should be."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_processor.errors import StoreError
from otel_processor.store.opening import open_read_only

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from otel_processor.demo.tasks import Task

GLANCE_SECONDS = 0.3
SUMMARY_SECONDS = 15.0

_ALERTS = """
    select alert_id, run_id, task, pattern, severity, message
    from alerts where starts_with(run_id, $prefix) order by "at", alert_id
"""
_SUMMARY = """
    select
        task,
        count(*) as runs,
        round(avg(steps), 1) as steps,
        sum(tokens)::BIGINT as tokens,
        sum(wasted_tokens)::BIGINT as wasted,
        format('${:.4f}', sum(cost_usd)) as cost,
        format('${:.4f}', sum(wasted_cost_usd)) as wasted_cost,
        count(flagged_reason) as flagged,
        string_agg(distinct stop_reason, ', ' order by stop_reason) as ended
    from runs where starts_with(run_id, $prefix)
    group by task order by flagged desc, wasted desc, task
"""
_STORED = """
    select r.run_id, r.steps, r.stop_reason, count(a.alert_id)
    from runs as r left join alerts as a on a.run_id = r.run_id
    where list_contains($run_ids, r.run_id)
    group by all order by r.run_id
"""
_QUESTIONS = (
    "select task, runs, tokens, wasted_tokens, cost_usd, wasted_cost_usd from tokens_per_task order by wasted_cost_usd desc",
    "select a.at, task, pattern, message from alerts as a order by a.at desc limit 5",
    "select run_id, task, steps, longest_flat_streak, stop_reason, flagged_reason from runs where flagged_reason is not null",
)


@dataclass(frozen=True, slots=True)
class StoredAlert:
    """An alert as the tour tells it."""

    alert_id: str
    run_id: str
    task: str | None
    pattern: str
    severity: str
    message: str


def alerts(db: Path, prefix: str) -> list[StoredAlert]:
    """Return the alerts on runs whose id begins with `prefix`; none while the database is busy or not there yet."""
    try:
        return [StoredAlert(*row) for row in _ask(db, _ALERTS, {"prefix": prefix}, GLANCE_SECONDS)[1]]
    except StoreError:
        return []


def summary(db: Path, prefix: str) -> str:
    """Return a table with a line per task."""
    names, rows = _ask(db, _SUMMARY, {"prefix": prefix}, SUMMARY_SECONDS)
    cells = [names, *(["-" if value is None else _shown(value) for value in row] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    last = len(names) - 1
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in {0, last} else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def faults(db: Path, started: Mapping[str, Task]) -> list[str]:
    """Return what is not as it should be: runs not stored or not whole, loops without an alert, alerts on healthy runs."""
    stored = _ask(db, _STORED, {"run_ids": list(started)}, SUMMARY_SECONDS)[1]
    missing = sorted(set(started) - {row[0] for row in stored})
    found = [f"{len(missing)} of {len(started)} runs are not in the database ({missing[0]} …)"] if missing else []
    for run_id, steps, stop_reason, number in stored:
        task = started[run_id]
        if not steps:
            found.append(f"{task.name} ({run_id}) is stored without its steps")
        if stop_reason == "running":
            found.append(f"{task.name} ({run_id}) has ended, and is stored as running")
        if task.loops and not number:
            found.append(f"{task.name} ({run_id}) loops, and there is no alert on it")
        if number and not task.loops:
            found.append(f"{task.name} ({run_id}) is healthy, and there is an alert on it")
    return found


def questions(db: Path) -> list[str]:
    """Return commands to try on the database."""
    return [f'{_program()} sql --db {shlex.quote(str(db))} "{question}"' for question in _QUESTIONS]


def _program() -> str:
    """Return how this command was called where a shell would not find it by its name: a venv that is not activated."""
    if shutil.which("otel-processor") or not sys.argv[0].endswith("otel-processor"):
        return "otel-processor"
    return shlex.quote(sys.argv[0])


def _ask(db: Path, question: str, values: dict[str, Any], timeout_seconds: float) -> tuple[list[str], Sequence[tuple[Any, ...]]]:
    import duckdb

    connection = open_read_only(db, timeout_seconds=timeout_seconds)
    try:
        cursor = connection.execute(question, values)
        return [column[0] for column in cursor.description or []], cursor.fetchall()
    except duckdb.CatalogException as error:
        raise StoreError(f"{db} does not hold the tables of otel-processor") from error
    finally:
        connection.close()


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
