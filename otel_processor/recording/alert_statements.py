"""The statements about alerts: told once, never withdrawn, only resolved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from otel_processor.model import Action, Alert
from otel_processor.recording.delta_rows import alert_columns, short_name
from otel_processor.runs.records import Resolution, RunSummary
from otel_processor.store.columns import ALERTS, MEMBER, as_list, dump, encodable, unnested
from otel_processor.store.scripts import recording_statement

if TYPE_CHECKING:
    import duckdb

_NOT_YET = ((1 << 63) - 1) // 1_000
"""The last microsecond that a TIMESTAMPTZ of ours can say."""


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


def resolve_with_runs(connection: duckdb.DuckDBPyConnection, runs: Sequence[RunSummary]) -> None:
    """Mark what is open as over where the run has ended: the live path may have told what the ledger sees otherwise."""
    ended = {run.run_id: run.ended_ns // 1_000 for run in runs if run.ended_ns is not None}
    if ended:
        ends = unnested({"run_id": "VARCHAR", "at_us": "BIGINT"})
        connection.execute(
            f"update alerts set resolved_at = make_timestamptz(e.at_us) from ({ends}) as e "
            'where alerts.run_id = e.run_id and alerts.resolved_at is null and alerts."at" <= make_timestamptz(e.at_us)',
            {"rows": dump({"run_id": list(ended), "at_us": [min(max(at, 0), _NOT_YET) for at in ended.values()]})},
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


def reopen_alerts(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> None:
    """Open what was open when these runs were closed for being idle: they go on after all."""
    if run_ids:
        connection.execute(
            "update alerts set resolved_at = null from run_rows as r where alerts.run_id = r.run_id "
            'and alerts.resolved_at = greatest(alerts."at", r.ended_at) and r.run_id in (select unnest(from_json($ids::JSON, '
            "'[\"VARCHAR\"]')))",
            {"ids": as_list(run_ids)},
        )


def named(alert: Alert, run: RunSummary | None) -> Alert:
    """Return the alert with the names of its run where it has none: it fell before the span that says them had come."""
    if run is None or (alert.task and alert.agent):
        return alert
    return replace(alert, task=alert.task or run.task, agent=alert.agent or run.agent)


def name_alerts(connection: duckdb.DuckDBPyConnection, runs: Iterable[RunSummary]) -> None:
    """Give alerts that were told before their run had a name the names that it has now."""
    named = [run for run in runs if run.task or run.agent]
    if not named:
        return
    asked = {"ids": as_list(run.run_id for run in named)}
    nameless = f"(task is null or agent is null) and run_id in ({MEMBER})"
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
