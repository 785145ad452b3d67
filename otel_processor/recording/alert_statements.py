"""The statements about alerts: told once, never withdrawn, only resolved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from otel_processor.model import Alert
from otel_processor.recording.alert_stories import StoredAlert, Story, closed_at, microseconds, sorted_out
from otel_processor.recording.delta_rows import alert_columns, short_name
from otel_processor.runs.records import Resolution, RunSummary
from otel_processor.store.columns import ALERTS, MEMBER, Columns, as_list, dump, encodable, unnested
from otel_processor.store.scripts import recording_statement

if TYPE_CHECKING:
    import duckdb


def write_alerts(
    connection: duckdb.DuckDBPyConnection,
    alerts: Sequence[Alert],
    *,
    told_before: Callable[[str], bool] = lambda _: False,
) -> list[Alert]:
    """Write alerts that are told ahead of their spans, as far as they are new or became graver; what was told stays told.

    The live path and the ledger may open the same pattern of a run at different spans. Alerts of one pattern never overlap
    in time, so two that do are the same story.

    Args:
        connection: inside a write transaction.
        alerts: that are open, or were opened and resolved.
        told_before: whether whoever tells these has told the alert of this id before, as another story. A stand-alone guard
            tells the stories of the spans beside it, not others.

    Returns:
        the alerts that are new to the database or became graver, by the ids under which they are stored.
    """
    if not alerts:
        return []
    stored = _stored_alerts(connection, {alert.run_id for alert in alerts})
    new, graver, over = sorted_out(alerts, stored, {}, told_before)
    for alert_id, at_us in over.items():
        _resolve_one(connection, alert_id, at_us)
    _make_graver(connection, graver)
    ALERTS.insert(connection, alert_columns(new))
    return new + graver


def write_decided(
    connection: duckdb.DuckDBPyConnection,
    alerts: Sequence[Alert],
    runs: Mapping[str, RunSummary],
    resolutions: Sequence[Resolution],
) -> list[Alert]:
    """Write what a delta says of alerts: which there are, whose they are and which are over; return them as `write_alerts` does.

    Args:
        connection: inside a write transaction.
        alerts: of the delta.
        runs: its runs, by id: what is open is over where its run has ended, since the live path may have told what the ledger
            sees otherwise; alerts that were told before their run had a name get it.
        resolutions: of the delta.
    """
    stored = _stored_alerts(connection, {*runs, *(alert.run_id for alert in alerts), *(each.run_id for each in resolutions)})
    if not stored and not alerts:
        return []
    ends: dict[Story, list[int]] = defaultdict(list)
    for each in resolutions:
        ends[each.run_id, str(each.pattern)].append(microseconds(each.at_ns))
    new, graver, over = sorted_out([_named(alert, runs.get(alert.run_id)) for alert in alerts], stored, ends, lambda _: False)
    for alert_id, at_us in over.items():
        _resolve_one(connection, alert_id, at_us)
    _make_graver(connection, graver)
    _name(connection, [one.run_id for one in stored if one.is_nameless], runs)
    closed: dict[str, int] = {}
    for one in stored:
        end_us = closed_at(one.story, one.at_us, ends, runs)
        if one.resolved_us is None and one.alert_id not in over and end_us is not None:
            closed[one.alert_id] = end_us
    _close(connection, closed, [one.at_us for one in stored if one.alert_id in closed])
    columns = alert_columns(new)
    for at, alert in enumerate(new):
        end_us = closed_at((alert.run_id, str(alert.verdict.pattern)), microseconds(alert.at_ns), ends, runs)
        if alert.resolved_ns is None and end_us is not None:
            columns["resolved_ns"][at] = end_us * 1_000
    ALERTS.insert(connection, columns)
    return new + graver


def _stored_alerts(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]) -> list[StoredAlert]:
    rows = connection.execute(recording_statement("alerts_of_runs"), {"run_ids": as_list(run_ids)}).fetchall()
    return [StoredAlert(*row) for row in rows]


def _make_graver(connection: duckdb.DuckDBPyConnection, alerts: Sequence[Alert]) -> None:
    for alert in alerts:
        connection.execute(
            "update alerts set severity = $severity, action = $action, stop_reason = $stop_reason, message = $message"
            " where alert_id = $alert_id",
            {
                "severity": alert.verdict.severity,
                "action": str(alert.verdict.action),
                "stop_reason": str(alert.verdict.stop_reason or "") or None,
                "message": encodable(alert.verdict.message),
                "alert_id": alert.alert_id,
            },
        )


def _close(connection: duckdb.DuckDBPyConnection, ends: Mapping[str, int], begins: Sequence[int]) -> None:
    """Mark alerts as over, by their ids; they begin at these moments."""
    if ends:
        closed = unnested({"alert_id": "VARCHAR", "at_us": "BIGINT"})
        connection.execute(
            f"update alerts set resolved_at = make_timestamptz(e.at_us) from ({closed}) as e "
            'where alerts."at" between make_timestamptz($first) and make_timestamptz($last) and alerts.alert_id = e.alert_id',
            {
                "rows": dump({"alert_id": list(ends), "at_us": list(ends.values())}),
                "first": min(begins),
                "last": max(begins),
            },
        )


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


def move_alerts(connection: duckdb.DuckDBPyConnection, moved: Mapping[tuple[str, str], str]) -> None:
    """Let the alerts of traces, and the messages about them, go with the traces into other runs.

    Args:
        connection: inside a write transaction.
        moved: (trace, run that it was in) → the run that it is in now.
    """
    if not moved:
        return
    runs = unnested({"trace_id": "VARCHAR", "was_in": "VARCHAR", "run_id": "VARCHAR"})
    rows: Columns = {
        "trace_id": [trace_id for trace_id, _ in moved],
        "was_in": [run_id for _, run_id in moved],
        "run_id": list(moved.values()),
    }
    ids = connection.execute(
        f"update alerts set run_id = m.run_id from ({runs}) as m where alerts.trace_id = m.trace_id and alerts.run_id = m.was_in "
        "returning alert_id",
        {"rows": dump(rows)},
    ).fetchall()
    if ids:
        connection.execute(
            "update deliveries set run_id = a.run_id from alerts as a where deliveries.alert_id = a.alert_id "
            f"and a.alert_id in ({MEMBER})",
            {"ids": as_list(alert_id for (alert_id,) in ids)},
        )


def reopen_alerts(
    connection: duckdb.DuckDBPyConnection, were_over: Mapping[str, int], standing: Sequence[Story] | None = None
) -> None:
    """Open what was over with these runs: they go on after all.

    Args:
        connection: inside a write transaction.
        were_over: run → when it seemed to have ended (µs).
        standing: the stories that are not over; None: all that ended with these runs.
    """
    stories = [(run_id, None) for run_id in were_over] if standing is None else standing
    if stories:
        ends = unnested({"run_id": "VARCHAR", "pattern": "VARCHAR", "at_us": "BIGINT"})
        rows: Columns = {
            "run_id": [run_id for run_id, _ in stories],
            "pattern": [pattern for _, pattern in stories],
            "at_us": [were_over[run_id] for run_id, _ in stories],
        }
        connection.execute(
            f"update alerts set resolved_at = null from ({ends}) as e where alerts.run_id = e.run_id "
            "and alerts.pattern = coalesce(e.pattern, alerts.pattern) "
            'and alerts.resolved_at = greatest(alerts."at", make_timestamptz(e.at_us))',
            {"rows": dump(rows)},
        )


def _named(alert: Alert, run: RunSummary | None) -> Alert:
    """Return the alert with the names of its run where it has none: it fell before the span that says them had come."""
    if run is None or (alert.task and alert.agent):
        return alert
    return replace(alert, task=alert.task or run.task, agent=alert.agent or run.agent)


def _name(connection: duckdb.DuckDBPyConnection, nameless: Iterable[str], runs: Mapping[str, RunSummary]) -> None:
    """Give alerts that were told before their run had a name the names that it has now."""
    named = [run for run_id in dict.fromkeys(nameless) if (run := runs.get(run_id)) is not None and (run.task or run.agent)]
    if not named:
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


def _resolve_one(connection: duckdb.DuckDBPyConnection, alert_id: str, at_us: int) -> None:
    """Mark the alert of a stand-alone guard as over, which no span says."""
    connection.execute(
        'update alerts set resolved_at = greatest("at", make_timestamptz($at_us)) '
        "where alert_id = $alert_id and resolved_at is null",
        {"at_us": at_us, "alert_id": alert_id},
    )
