"""Which stored runs are judged again, and which traces have to be read together for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_processor.recording import looking_up
from otel_processor.store.columns import as_list
from otel_processor.store.scripts import what_if_statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which runs: the newest ones, of one task or agent or of all, up to so many runs and spans."""

    runs: int = 200
    task: str | None = None
    agent: str | None = None
    spans: int = 50_000

    @property
    def bounded_runs(self) -> int:
        """How many runs at most, whatever was asked for."""
        return min(max(self.runs, 1), MOST_RUNS)

    @property
    def bounded_spans(self) -> int:
        """How many spans at most, whatever was asked for."""
        return min(max(self.spans, 1), MOST_SPANS)


MOST_RUNS = 2_000
MOST_SPANS = 200_000


@dataclass(frozen=True, slots=True)
class ChosenRun:
    """A run to judge again, as it is stored."""

    run_id: str
    task: str | None
    agent: str | None
    started_ns: int


@dataclass(frozen=True, slots=True)
class Together:
    """Traces that share runs, so that one cannot be judged without the others."""

    trace_ids: frozenset[str]
    run_ids: frozenset[str]
    spans: int
    first_ns: int
    last_ns: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be judged."""

    runs: tuple[ChosenRun, ...]
    beyond: int
    """Runs that were asked for beyond the bound."""
    together: tuple[Together, ...]
    """The latest first."""


def choose(connection: duckdb.DuckDBPyConnection, choice: Choice) -> Chosen:
    """Return what is to be judged."""
    rows = connection.execute(
        what_if_statement("chosen_runs"), {"task": choice.task, "agent": choice.agent, "at_most": choice.bounded_runs}
    ).fetchall()
    runs = tuple(ChosenRun(run_id, task, agent, (started_us or 0) * 1_000) for run_id, task, agent, started_us, _ in rows)
    if not runs:
        return Chosen((), 0, ())
    traces = {trace_id for trace_id, _ in looking_up.traces_of_runs(connection, [run.run_id for run in runs])}
    links = looking_up.links_of_same_runs(connection, traces)
    traces |= {trace_id for trace_id, _ in links}
    asked = {"trace_ids": as_list(traces)}
    sizes = {row[0]: row[1:] for row in connection.execute(what_if_statement("sizes_of_traces"), asked).fetchall()}
    components = _components(links)
    together = [
        Together(
            frozenset(trace_ids),
            frozenset(run_ids),
            sum(sizes[trace_id][0] for trace_id in known),
            min(sizes[trace_id][1] for trace_id in known),
            max(sizes[trace_id][2] for trace_id in known),
        )
        for trace_ids, run_ids in components
        if (known := trace_ids & sizes.keys())
    ]
    together.sort(key=lambda each: (-each.last_ns, min(each.trace_ids)))
    return Chosen(runs, int(rows[0][4]) - len(runs), tuple(together))


def _components(links: Iterable[tuple[str, str]]) -> list[tuple[set[str], set[str]]]:
    """Return (traces, runs) that share nothing with one another."""
    traces_of: dict[str, list[str]] = {}
    runs_of: dict[str, list[str]] = {}
    for trace_id, run_id in links:
        traces_of.setdefault(run_id, []).append(trace_id)
        runs_of.setdefault(trace_id, []).append(run_id)
    found: list[tuple[set[str], set[str]]] = []
    done: set[str] = set()
    for beginning in runs_of:
        if beginning in done:
            continue
        traces, runs, waiting = {beginning}, set[str](), [beginning]
        while waiting:
            for run_id in runs_of[waiting.pop()]:
                if run_id not in runs:
                    runs.add(run_id)
                    fresh = set(traces_of[run_id]) - traces
                    traces |= fresh
                    waiting.extend(fresh)
        done |= traces
        found.append((traces, runs))
    return found
