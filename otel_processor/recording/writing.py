"""The statements of one write transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from otel_processor.model import Action, Alert, History
from otel_processor.pricing import Pricer
from otel_processor.recording.counting import count_anew, runs_concerned
from otel_processor.recording.delta_rows import alert_columns, call_columns, run_columns, short_name, trace_columns
from otel_processor.recording.preparing import Batch, kept_evidence
from otel_processor.runs.conversations import StoredRun
from otel_processor.runs.records import Delta, KeptEvidence, Resolution, RunSummary
from otel_processor.store.columns import (
    ALERTS,
    CALLS,
    RUNS,
    SPANS,
    TRACE_RUNS,
    WRITERS,
    Columns,
    as_list,
    dump,
    encodable,
    unnested,
)
from otel_processor.store.scripts import recording_statement
from otel_processor.store.totals import recount

if TYPE_CHECKING:
    import duckdb


def insert_new_spans(connection: duckdb.DuckDBPyConnection, batch: Batch) -> Batch:
    """Insert the spans that are not stored yet and return them as a batch."""
    seen: set[tuple[str, str]] = set()
    first: list[int] = []
    for position, key in enumerate(zip(batch.columns["trace_id"], batch.columns["span_id"], strict=True)):
        if key not in seen:
            seen.add(key)
            first.append(position)
    starts = batch.columns["start_unix_nano"]
    known = set(
        connection.execute(
            recording_statement("known_spans"),
            {
                "rows": dump({"trace_id": batch.columns["trace_id"], "span_id": batch.columns["span_id"]}),
                "lowest": min(starts),
                "highest": max(starts),
            },
        ).fetchall()
    )
    if known:
        ids = batch.columns["trace_id"], batch.columns["span_id"]
        first = [position for position in first if (ids[0][position], ids[1][position]) not in known]
    new = batch if len(first) == len(batch) else batch.pick(first)
    SPANS.insert(connection, new.columns)
    return new


def span_counts(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str]) -> dict[str, int]:
    """Return how many spans of each trace are stored."""
    rows = connection.execute(recording_statement("span_counts"), {"trace_ids": as_list(trace_ids)}).fetchall()
    return {str(trace_id): int(count) for trace_id, count in rows}


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


def remove_rows(connection: duckdb.DuckDBPyConnection, trace_ids: set[str], run_ids: set[str]) -> None:
    """Remove what was decided about these traces and runs, to decide it anew."""
    connection.execute(f"delete from call_rows where trace_id in ({_member})", {"ids": as_list(trace_ids)})
    connection.execute(f"delete from trace_runs where trace_id in ({_member})", {"ids": as_list(trace_ids)})
    connection.execute(f"delete from run_rows where run_id in ({_member})", {"ids": as_list(run_ids)})
    recount(connection, run_ids)


def write_delta(connection: duckdb.DuckDBPyConnection, delta: Delta, pricer: Pricer) -> list[Alert]:
    """Write calls, runs with what is counted of them, traces and alerts; return what `write_alerts` returns."""
    concerned = runs_concerned(connection, delta)
    concerned |= _remove_retold(connection, delta)
    CALLS.insert(connection, call_columns(delta.calls, pricer))
    _name_agents(connection, delta.named_agents)
    if delta.traces:
        latest = {trace.trace_id: trace for trace in delta.traces}
        connection.execute(f"delete from trace_runs where trace_id in ({_member})", {"ids": as_list(latest)})
        TRACE_RUNS.insert(connection, trace_columns(latest.values()))
    if delta.runs:
        runs = {run.run_id: run for run in delta.runs}
        _reopen_alerts(connection, [run.run_id for run in runs.values() if run.ended_ns is None])
        connection.execute(f"delete from run_rows where run_id in ({_member})", {"ids": as_list(runs)})
        RUNS.insert(connection, run_columns(runs.values()))
    count_anew(connection, delta, concerned)
    named = {run.run_id: run for run in delta.runs}
    news = write_alerts(
        connection, [_named(alert, named.get(alert.run_id)) for alert in delta.alerts], resolutions=delta.resolutions
    )
    _name_alerts(connection, named.values())
    resolve_alerts(connection, delta.resolutions)
    _resolve_with_runs(connection, delta.runs)
    return news


def _name_agents(connection: duckdb.DuckDBPyConnection, named: Sequence[tuple[str, str]]) -> None:
    """Say whose the calls of these traces are that have no agent; of two names for a trace the first holds."""
    if not named:
        return
    first = dict(reversed(named))
    connection.execute(
        f"update call_rows set agent = n.agent from ({unnested({'trace_id': 'VARCHAR', 'agent': 'VARCHAR'})}) as n "
        "where call_rows.trace_id = n.trace_id and call_rows.agent is null",
        {"rows": dump({"trace_id": list(first), "agent": list(first.values())})},
    )


def _named(alert: Alert, run: RunSummary | None) -> Alert:
    """Return the alert with the names of its run where it has none: it fell before the span that says them had come."""
    if run is None or (alert.task and alert.agent):
        return alert
    return replace(alert, task=alert.task or run.task, agent=alert.agent or run.agent)


def _name_alerts(connection: duckdb.DuckDBPyConnection, runs: Iterable[RunSummary]) -> None:
    """Give alerts that were told before their run had a name the names that it has now."""
    named = [run for run in runs if run.task or run.agent]
    if not named:
        return
    asked = {"ids": as_list(run.run_id for run in named)}
    nameless = f"(task is null or agent is null) and run_id in ({_member})"
    if connection.execute(f"select 1 from alerts where {nameless} limit 1", asked).fetchone() is None:
        return
    names = unnested({"run_id": "VARCHAR", "task": "VARCHAR", "agent": "VARCHAR"})
    connection.execute(
        "update alerts set task = coalesce(alerts.task, n.task), agent = coalesce(alerts.agent, n.agent) "
        f"from ({names}) as n where alerts.run_id = n.run_id and ((alerts.task is null and n.task is not null) "
        "or (alerts.agent is null and n.agent is not null))",
        {
            "rows": dump(
                {
                    "run_id": [run.run_id for run in named],
                    "task": [short_name(run.task) for run in named],
                    "agent": [short_name(run.agent) for run in named],
                }
            )
        },
    )


def _reopen_alerts(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> None:
    """Open what was open when these runs were closed for being idle: they go on after all."""
    if run_ids:
        connection.execute(
            "update alerts set resolved_at = null from run_rows as r where alerts.run_id = r.run_id "
            'and alerts.resolved_at = greatest(alerts."at", r.ended_at) and r.run_id in (select unnest(from_json($ids::JSON, '
            "'[\"VARCHAR\"]')))",
            {"ids": as_list(run_ids)},
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


def write_alerts(
    connection: duckdb.DuckDBPyConnection,
    alerts: Sequence[Alert],
    *,
    resolutions: Sequence[Resolution] = (),
    told_before: Callable[[str], bool] = lambda _: False,
) -> list[Alert]:
    """Write alerts that are new or became graver; an alert that was told stays told.

    The live path and the ledger may open the same pattern of a run at different spans. Alerts of one pattern never overlap
    in time, so two that do are the same story.

    Args:
        connection: inside a write transaction.
        alerts: that are open, or were opened and resolved.
        resolutions: that belong to the same change and are not written yet.
        told_before: whether whoever tells these has told the alert of this id before, as another story. A stand-alone guard
            tells the stories of the spans beside it, not others.

    Returns:
        the alerts that are new to the database or became graver, by the ids under which they are stored.
    """
    if not alerts:
        return []
    by_id = {alert.alert_id: alert for alert in alerts}
    rows = connection.execute(
        recording_statement("alerts_of_runs"), {"run_ids": as_list({alert.run_id for alert in alerts})}
    ).fetchall()
    over = defaultdict(list)
    for resolution in resolutions:
        over[resolution.run_id, str(resolution.pattern)].append(resolution.at_ns // 1_000)
    told = {row[0]: _Told(row[0], row[3], row[4], row[5] or _end(row[4], over[row[1], row[2]])) for row in rows}
    others: dict[tuple[str, str], list[_Told]] = defaultdict(list)
    for row in rows:
        if row[0] not in by_id:
            others[row[1], row[2]].append(told[row[0]])
    new: list[Alert] = []
    graver: list[Alert] = []
    for alert in by_id.values():
        key = (alert.run_id, str(alert.verdict.pattern))
        same = told.get(alert.alert_id)
        if same is None:
            at = alert.at_ns // 1_000
            end = _end(at, over[key])
            same = next(
                (
                    other
                    for other in others[key]
                    if other.at_us <= end and at <= other.end_us and (alert.by_guard or not told_before(other.alert_id))
                ),
                None,
            )
            if same is None:
                new.append(alert)
                continue
            others[key].remove(same)
        elif alert.resolved_ns is not None:
            _resolve_one(connection, alert.alert_id, alert.resolved_ns)
        if same.action != Action.STOP and alert.verdict.action is Action.STOP:
            connection.execute(
                "update alerts set severity = $severity, action = $action, stop_reason = $stop_reason, message = $message"
                " where alert_id = $alert_id",
                {
                    "severity": alert.verdict.severity,
                    "action": str(alert.verdict.action),
                    "stop_reason": str(alert.verdict.stop_reason or "") or None,
                    "message": encodable(alert.verdict.message),
                    "alert_id": same.alert_id,
                },
            )
            graver.append(replace(alert, alert_id=same.alert_id))
    ALERTS.insert(connection, alert_columns(new))
    return new + graver


def _resolve_one(connection: duckdb.DuckDBPyConnection, alert_id: str, at_ns: int) -> None:
    """Mark the alert of a stand-alone guard as over, which no span says."""
    connection.execute(
        'update alerts set resolved_at = greatest("at", make_timestamptz($at_us)) '
        "where alert_id = $alert_id and resolved_at is null",
        {"at_us": min(max(at_ns // 1_000, 0), _NOT_YET), "alert_id": alert_id},
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """An alert as it is stored, from when to when (microseconds)."""

    alert_id: str
    action: str
    at_us: int
    end_us: int


def _end(at_us: int, over: Sequence[int]) -> int:
    return min((end for end in over if end >= at_us), default=_NOT_YET)


def resolve_alerts(connection: duckdb.DuckDBPyConnection, resolutions: Sequence[Resolution]) -> None:
    """Mark alerts as over that were open then."""
    if not resolutions:
        return
    over = unnested({"run_id": "VARCHAR", "pattern": "VARCHAR", "at_us": "BIGINT"})
    connection.execute(
        "update alerts set resolved_at = make_timestamptz(e.at_us) "
        "from (select a.alert_id, min(o.at_us) as at_us from alerts as a "
        f"join ({over}) as o on a.run_id = o.run_id and a.pattern = o.pattern "
        'where a.resolved_at is null and a."at" <= make_timestamptz(o.at_us) group by a.alert_id) as e '
        "where alerts.alert_id = e.alert_id",
        {
            "rows": dump(
                {
                    "run_id": [each.run_id for each in resolutions],
                    "pattern": [str(each.pattern) for each in resolutions],
                    "at_us": [min(max(each.at_ns // 1_000, 0), _NOT_YET) for each in resolutions],
                }
            )
        },
    )


def _resolve_with_runs(connection: duckdb.DuckDBPyConnection, runs: Sequence[RunSummary]) -> None:
    """Mark what is open as over where the run has ended: the live path may have told what the ledger sees otherwise."""
    ended = {run.run_id: run.ended_ns // 1_000 for run in runs if run.ended_ns is not None}
    if ended:
        ends = unnested({"run_id": "VARCHAR", "at_us": "BIGINT"})
        connection.execute(
            f"update alerts set resolved_at = make_timestamptz(e.at_us) from ({ends}) as e "
            'where alerts.run_id = e.run_id and alerts.resolved_at is null and alerts."at" <= make_timestamptz(e.at_us)',
            {"rows": dump({"run_id": list(ended), "at_us": [min(max(at, 0), _NOT_YET) for at in ended.values()]})},
        )


def run_reasons(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]) -> dict[str, tuple[str, str | None]]:
    """Return why runs ended and what they were flagged with, as it is stored."""
    rows = connection.execute(recording_statement("run_reasons"), {"run_ids": as_list(run_ids)}).fetchall()
    return {run_id: (stop_reason, flagged_reason) for run_id, stop_reason, flagged_reason in rows}


def resolve_unfounded(
    connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str], standing: set[tuple[str, str]], ends: Mapping[str, int]
) -> list[str]:
    """Mark open alerts of these traces as over that would not be told now; return their patterns. What was told stays told.

    Args:
        connection: inside a write transaction.
        trace_ids: all traces of some runs.
        standing: (run, pattern) of the alerts that are open there now.
        ends: run → nanoseconds until which it is known.
    """
    rows = connection.execute(recording_statement("open_alerts_of_traces"), {"trace_ids": as_list(trace_ids)}).fetchall()
    unfounded = [(alert_id, run_id, pattern) for alert_id, run_id, pattern in rows if (run_id, pattern) not in standing]
    over = [(alert_id, ends.get(run_id, 0) // 1_000) for alert_id, run_id, _ in unfounded]
    if over:
        found = unnested({"alert_id": "VARCHAR", "at_us": "BIGINT"})
        connection.execute(
            f'update alerts set resolved_at = greatest(alerts."at", make_timestamptz(e.at_us)) from ({found}) as e '
            "where alerts.alert_id = e.alert_id",
            {"rows": dump({"alert_id": [row[0] for row in over], "at_us": [row[1] for row in over]})},
        )
    return [pattern for _, _, pattern in unfounded]


def last_commit(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return who committed last, and which of its commits it was."""
    row = connection.execute("select last_writer from meta").fetchone()
    return None if row is None else row[0]


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


_MAX_NS = (1 << 63) - 1

_NOT_YET = _MAX_NS // 1_000
"""The last microsecond that a TIMESTAMPTZ of ours can say."""

_member = "select unnest(from_json($ids::JSON, '[\"VARCHAR\"]'))"
