"""The statements that remove old runs: a portion of them in a write transaction, always whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from otel_processor.recording import looking_up
from otel_processor.store.columns import as_list
from otel_processor.store.scripts import pruning_statement

if TYPE_CHECKING:
    import duckdb

SPANS_AT_ONCE = 20_000
"""Spans that one transaction removes; a run that has more goes all the same."""


@dataclass(slots=True)
class Removed:
    """What was removed: rows of each kind."""

    runs: int = 0
    plain_traces: int = 0
    """Traces without a run."""
    spans: int = 0
    calls: int = 0
    alerts: int = 0
    deliveries: int = 0

    def add(self, more: Removed) -> None:
        """Count these as well."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(more, one.name))

    @property
    def is_anything(self) -> bool:
        """Whether anything was removed."""
        return any(getattr(self, one.name) for one in fields(self))

    def __str__(self) -> str:
        """Say how much it is: `2 runs: 40 spans, 38 calls, 1 alert, 0 messages`."""
        rest = ((self.spans, "span"), (self.calls, "call"), (self.alerts, "alert"), (self.deliveries, "message"))
        traces = f" and {_counted(self.plain_traces, 'trace')} without a run" if self.plain_traces else ""
        return f"{_counted(self.runs, 'run')}{traces}: {', '.join(_counted(number, word) for number, word in rest)}"


@dataclass(frozen=True, slots=True)
class Seen:
    """A run, or a trace without one, and the microsecond in which it was last seen."""

    is_run: bool
    id: str
    seen_us: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be removed: microseconds since the epoch."""

    before_us: int
    """Runs that were last seen before this."""
    plain_before_us: int
    """Traces without a run, likewise."""
    silent_since_us: int
    """Open runs, and all they are tied to, go only where nothing arrived since this."""


@dataclass(slots=True)
class _Group:
    """Runs that share traces, and all these traces: they go together or not at all."""

    runs: set[str] = field(default_factory=set)
    traces: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Trace:
    """What is stored of a trace: how many spans, and the microseconds in which the last one ended and arrived."""

    spans: int
    seen_us: int
    arrived_us: int


def oldest(connection: duckdb.DuckDBPyConnection, limits: Limits, *, after: Seen | None, at_most: int) -> list[Seen]:
    """Return what was seen least lately, the oldest first.

    Args:
        connection: to the database.
        limits: what may be removed.
        after: where to go on.
        at_most: so many.
    """
    rows = connection.execute(
        pruning_statement("oldest"),
        {
            "before_us": limits.before_us,
            "plain_before_us": limits.plain_before_us,
            "after_us": after.seen_us if after is not None else -1,
            "after_id": after.id if after is not None else "",
            "at_most": at_most,
        },
    ).fetchall()
    return [Seen(*row) for row in rows]


def remove(
    connection: duckdb.DuckDBPyConnection, candidates: Sequence[Seen], limits: Limits, *, spans_at_most: int
) -> tuple[Removed, set[str], Seen | None]:
    """Remove these runs and traces, in their order, until enough spans are gone.

    Each goes with all that shares a trace with it, or stays where something of that was seen too lately.

    Args:
        connection: inside a write transaction.
        candidates: as `oldest` gave them; something may have come since.
        limits: what may be removed.
        spans_at_most: so many spans; the first run goes even if it has more.

    Returns:
        what was removed, the traces that are gone, and the last candidate that was looked at.
    """
    removed, gone = Removed(), _Group()
    last: Seen | None = None
    looked_at: set[int] = set()
    groups = _together(connection, candidates)
    traces = _trace_facts(connection, {trace for group in groups for trace in group.traces})
    facts = _run_facts(connection, {run for group in groups for run in group.runs})
    for one, group in zip(candidates, groups, strict=True):
        if id(group) not in looked_at and _may_go(group, facts, traces, limits):
            spans = sum(traces[trace].spans for trace in group.traces if trace in traces)
            if gone.traces | gone.runs and removed.spans + spans > spans_at_most:
                break
            gone.runs |= group.runs
            gone.traces |= group.traces
            removed.spans += spans
            removed.plain_traces += not group.runs
        looked_at.add(id(group))
        last = one
    if gone.traces | gone.runs:
        _delete(connection, gone, removed)
    return removed, gone.traces, last


def sweep(connection: duckdb.DuckDBPyConnection, before_us: int | None) -> Removed:
    """Remove what belongs to no run and is older than that, and what nothing points to any more.

    Args:
        connection: inside a write transaction.
        before_us: microseconds since the epoch; None: nothing goes for its age.
    """
    removed = Removed()
    connection.execute(pruning_statement("unused_policies"))
    if before_us is not None:
        before = {"before_us": before_us}
        removed.alerts = _count(connection, pruning_statement("lonely_alerts"), before)
        removed.deliveries = _count(connection, pruning_statement("old_deliveries"), before)
        connection.execute(pruning_statement("silent_writers"), before)
    return removed


def _together(connection: duckdb.DuckDBPyConnection, candidates: Sequence[Seen]) -> list[_Group]:
    """Return for each candidate what goes with it, itself included: one object for all that share traces."""
    traces = {one.id for one in candidates if not one.is_run}
    runs = {one.id for one in candidates if one.is_run}
    traces |= {trace for trace, _ in looking_up.traces_of_runs(connection, runs)}
    links = looking_up.links_of_same_runs(connection, traces)
    of_run: dict[str, _Group] = {}
    of_trace: dict[str, _Group] = {}
    for trace, run in links:
        group, other = of_trace.get(trace) or of_run.get(run) or _Group(), of_run.get(run)
        group.runs.add(run)
        group.traces.add(trace)
        if other is not None and other is not group:
            group.runs |= other.runs
            group.traces |= other.traces
            of_run |= dict.fromkeys(other.runs, group)
            of_trace |= dict.fromkeys(other.traces, group)
        of_run[run] = of_trace[trace] = group
    alone = [_Group({one.id}, set()) if one.is_run else _Group(set(), {one.id}) for one in candidates]
    return [(of_run if one.is_run else of_trace).get(one.id, alone[at]) for at, one in enumerate(candidates)]


def _may_go(group: _Group, facts: dict[str, tuple[int, bool]], traces: dict[str, _Trace], limits: Limits) -> bool:
    stored = [traces[trace] for trace in group.traces if trace in traces]
    if not group.runs:
        return all(trace.seen_us < limits.plain_before_us for trace in stored)
    known = [facts[run] for run in group.runs if run in facts]
    if any(seen_us >= limits.before_us for seen_us, _ in known):
        return False
    return not any(is_open for _, is_open in known) or all(trace.arrived_us < limits.silent_since_us for trace in stored)


def _run_facts(connection: duckdb.DuckDBPyConnection, runs: Iterable[str]) -> dict[str, tuple[int, bool]]:
    rows = connection.execute(pruning_statement("run_facts"), {"run_ids": as_list(runs)}).fetchall()
    return {run: (seen_us, is_open) for run, seen_us, is_open in rows}


def _trace_facts(connection: duckdb.DuckDBPyConnection, traces: Iterable[str]) -> dict[str, _Trace]:
    rows = connection.execute(pruning_statement("trace_facts"), {"trace_ids": as_list(traces)}).fetchall()
    return {trace: _Trace(*rest) for trace, *rest in rows}


def _delete(connection: duckdb.DuckDBPyConnection, gone: _Group, removed: Removed) -> None:
    traces, runs = {"ids": as_list(gone.traces)}, {"ids": as_list(gone.runs)}
    connection.execute(f"delete from spans where trace_id in ({_ids})", traces)
    removed.calls += _count(connection, f"delete from call_rows where trace_id in ({_ids})", traces)
    connection.execute(f"delete from trace_runs where trace_id in ({_ids})", traces)
    removed.runs += _count(connection, f"delete from run_rows where run_id in ({_ids})", runs)
    connection.execute(f"delete from run_totals where run_id in ({_ids})", runs)
    rows = connection.execute(
        f"delete from alerts where run_id in ({_ids}) or trace_id in ({_ids.replace('$ids', '$traces')}) returning alert_id",
        runs | {"traces": traces["ids"]},
    ).fetchall()
    removed.alerts += len(rows)
    if rows:
        alerts = {"ids": as_list(alert_id for (alert_id,) in rows)}
        removed.deliveries += _count(connection, f"delete from deliveries where alert_id in ({_ids})", alerts)


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _count(connection: duckdb.DuckDBPyConnection, statement: str, values: Mapping[str, object]) -> int:
    """Return how many rows a statement changed."""
    return int(connection.execute(statement, values).fetchall()[0][0])


_ids = "select unnest(from_json($ids::JSON, '[\"VARCHAR\"]'))"
