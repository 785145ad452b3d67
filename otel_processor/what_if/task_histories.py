"""What the healthy runs of tasks used, asked once for all of them and answered from memory for each run."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from otel_processor.model import History
from otel_processor.store.columns import as_list
from otel_processor.store.scripts import what_if_statement

if TYPE_CHECKING:
    import duckdb

RUNS_OF_A_HISTORY = 200
"""The latest runs that are a measure; as in `task_history.sql`."""

_MOST_RUNS = 5_000
"""Of one task that are asked for."""


class _Used(NamedTuple):
    run_id: str
    ended_us: int
    steps: float | None
    tokens: float | None
    cost_usd: float | None


class TaskHistories:
    """The healthy runs of some tasks, the latest first. Answers as the recorder's own look-up does."""

    def __init__(self, rows: Iterable[tuple[str, str, int, float | None, float | None, float | None]] = ()) -> None:
        self._runs: dict[str, list[_Used]] = defaultdict(list)
        for task, run_id, ended_us, steps, tokens, cost_usd in rows:
            self._runs[task].append(_Used(run_id, ended_us, steps, tokens, cost_usd))

    @classmethod
    def read(cls, connection: duckdb.DuckDBPyConnection, tasks: Iterable[str], before_ns: int) -> TaskHistories:
        """Read what the tasks' runs used that ended before a moment."""
        known = sorted(set(tasks))
        if not known:
            return cls()
        asked = {"tasks": as_list(known), "before_us": before_ns // 1_000, "at_most": _MOST_RUNS}
        return cls(connection.execute(what_if_statement("healthy_runs"), asked).fetchall())

    def of(self, task: str, before_ns: int, least: int, being_replaced: Collection[str]) -> History | None:
        """Return what the task's latest runs before a moment used, or None where there are fewer of them than `least`."""
        before_us = before_ns // 1_000
        runs = self._runs.get(task, [])
        earlier = islice(runs, bisect_right(runs, -before_us, key=lambda run: -run.ended_us), None)
        used = list(islice((run for run in earlier if run.run_id not in being_replaced), RUNS_OF_A_HISTORY))
        if len(used) < least:
            return None
        return History(
            len(used),
            percentile([run.steps for run in used]),
            percentile([run.tokens for run in used]),
            percentile([run.cost_usd for run in used]),
        )


def percentile(values: Sequence[float | None]) -> float | None:
    """Return the 95th percentile of what is known, between two values in proportion, as DuckDB's `quantile_cont` does."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    place = 0.95 * (len(known) - 1)
    below = int(place)
    above = min(below + 1, len(known) - 1)
    return float(known[below] + (known[above] - known[below]) * (place - below))
