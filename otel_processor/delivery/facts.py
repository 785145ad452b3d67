"""What a message tells: an alert with its run as far as that is stored, or how many were held back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otel_processor.alerts.notice import EndedBy, Kind, Mention, Notice
from otel_processor.store.columns import as_list
from otel_processor.store.scripts import delivery_statement

if TYPE_CHECKING:
    import duckdb

    from otel_processor.alerts.settings import AlertSettings
    from otel_processor.model import Alert

_MENTIONED = 5


def notices_of(
    connection: duckdb.DuckDBPyConnection,
    subjects: Mapping[str, tuple[Kind, str | None]],
    settings: AlertSettings,
    now_ns: int,
) -> dict[str, Notice]:
    """Return the notices of messages by their ids.

    Args:
        connection: inside a transaction.
        subjects: message → its kind and the alert that it is about.
        settings: where the dashboard is.
        now_ns: the time of what no row gives a time.
    """
    alert_ids = [alert_id for _, alert_id in subjects.values() if alert_id is not None]
    facts = _facts(connection, alert_ids) if alert_ids else {}
    return {
        message_id: _summary(connection, message_id, settings, now_ns)
        if kind is Kind.SUMMARY
        else _about(kind, message_id, facts.get(alert_id or "", {}), settings, now_ns)
        for message_id, (kind, alert_id) in subjects.items()
    }


def notice_of_alert(alert: Alert, message_id: str, settings: AlertSettings) -> Notice:
    """Return the notice of an alert in hand, of whose run no row could be asked."""
    verdict = alert.verdict
    return Notice(
        kind=Kind.ALERT,
        notice_id=message_id,
        at_ns=alert.at_ns,
        run_id=alert.run_id,
        task=alert.task,
        agent=alert.agent,
        alert_id=alert.alert_id,
        pattern=str(verdict.pattern),
        severity=verdict.severity,
        action=str(verdict.action),
        stop_reason=None if verdict.stop_reason is None else str(verdict.stop_reason),
        message=verdict.message,
        link=settings.link_of(alert.run_id),
    )


def _facts(connection: duckdb.DuckDBPyConnection, alert_ids: list[str]) -> dict[str, dict[str, Any]]:
    cursor = connection.execute(delivery_statement("alert_facts"), {"alert_ids": as_list(alert_ids)})
    names = [column[0] for column in cursor.description or ()]
    return {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}


def _about(kind: Kind, message_id: str, row: Mapping[str, Any], settings: AlertSettings, now_ns: int) -> Notice:
    resolved_us = row.get("resolved_us")
    ended_by = None
    if resolved_us is not None and row.get("run_is_known"):
        ended_by = EndedBy.RUN_ENDED if row.get("until_the_end") else EndedBy.PROGRESS
    at_us = resolved_us if kind is Kind.RECOVERY and resolved_us is not None else row.get("at_us")
    return Notice(
        kind=kind,
        notice_id=message_id,
        at_ns=now_ns if at_us is None else at_us * 1_000,
        resolved_ns=None if resolved_us is None else resolved_us * 1_000,
        ended_by=ended_by,
        link=settings.link_of(row.get("run_id")),
        steps=row.get("steps"),
        tokens=row.get("tokens"),
        cost_usd=row.get("cost_usd"),
        run_id=row.get("run_id"),
        task=row.get("task"),
        agent=row.get("agent"),
        alert_id=row.get("alert_id"),
        pattern=row.get("pattern"),
        severity=row.get("severity"),
        action=row.get("action"),
        stop_reason=row.get("stop_reason"),
        message=row.get("message"),
    )


def _summary(connection: duckdb.DuckDBPyConnection, message_id: str, settings: AlertSettings, now_ns: int) -> Notice:
    rows = connection.execute(delivery_statement("summary_facts"), {"summary_id": message_id, "at_most": _MENTIONED}).fetchall()
    _, _, _, alerts, runs, over, since_us = rows[0] if rows else ("", None, "", 0, 0, 0, now_ns // 1_000)
    return Notice(
        kind=Kind.SUMMARY,
        notice_id=message_id,
        at_ns=since_us * 1_000,
        more_alerts=alerts,
        more_runs=runs,
        more_over=over,
        first=tuple(
            Mention(run_id=run_id, task=task, pattern=pattern, link=settings.link_of(run_id))
            for run_id, task, pattern, *_ in rows
        ),
    )
