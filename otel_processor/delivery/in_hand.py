"""Alerts that were seen here and may not be in the database yet: told without a row when it is out of reach for long."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from otel_processor.alerts.sink import Outcome, Sink, send_through
from otel_processor.delivery.facts import notice_of_alert
from otel_processor.delivery.pace import Minute
from otel_processor.recording.ordering import append, delivery_id
from otel_processor.store.columns import DELIVERIES, Columns, as_list
from otel_processor.store.scripts import delivery_statement

if TYPE_CHECKING:
    import duckdb

    from otel_processor.alerts.plan import DeliveryPlan
    from otel_processor.alerts.settings import AlertSettings
    from otel_processor.model import Alert

PATIENCE_NS = 30_000_000_000
"""So long the database may be out of reach before an alert is told without it."""

_MOST = 1_000
_TRIES = 3


@dataclass(slots=True)
class _InHand:
    """An alert, and which sinks it was sent to."""

    alert: Alert
    since_ns: int
    tries: int = 0
    sent: set[str] = field(default_factory=set)


class AlertsInHand:
    """Alerts whose rows are not known to be stored. Thread-safe; one thread sends."""

    def __init__(self, plan: DeliveryPlan, settings: AlertSettings) -> None:
        self._plan = plan
        self._settings = settings
        self._lock = threading.Lock()
        self._alerts: OrderedDict[str, _InHand] = OrderedDict()
        self._minutes: dict[str, Minute] = {}
        self._told: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    def add(self, alert: Alert, now_ns: int) -> None:
        """Take an alert that was seen just now."""
        if alert.resolved_ns is not None or not self._plan.wants(alert.verdict.severity):
            return
        with self._lock:
            self._alerts.setdefault(alert.alert_id, _InHand(alert, now_ns))
            if len(self._alerts) > _MOST:
                self._alerts.popitem(last=False)

    def forget(self, alert_ids: Iterable[str]) -> None:
        """Let alerts go whose rows are stored."""
        with self._lock:
            for alert_id in alert_ids:
                self._alerts.pop(alert_id, None)

    def alerts(self) -> list[Alert]:
        """Return the alerts in hand."""
        with self._lock:
            return [held.alert for held in self._alerts.values()]

    def next_ns(self) -> int | None:
        """Return when the first of them has waited for too long, or None."""
        with self._lock:
            return min((held.since_ns + PATIENCE_NS for held in self._alerts.values()), default=None)

    def overdue(self, now_ns: int) -> list[_InHand]:
        """Return those that have waited for too long."""
        with self._lock:
            return [held for held in self._alerts.values() if now_ns - held.since_ns >= PATIENCE_NS]

    def send(self, sinks: Mapping[str, Sink], now_ns: int, tried: Callable[[str, Outcome], object]) -> Columns:
        """Send what has waited for too long, without a claim; return rows of what was sent.

        Args:
            sinks: by name.
            now_ns: the time, nanoseconds since the epoch.
            tried: told of each try.
        """
        rows = DELIVERIES.empty()
        silent: set[str] = set()
        for held in self.overdue(now_ns):
            for sink in self._open_sinks(held, sinks, now_ns):
                if sink.name in silent:
                    continue
                message_id = delivery_id("alert", sink.name, held.alert.alert_id)
                outcome = send_through(sink, notice_of_alert(held.alert, message_id, self._settings))
                self._minutes[sink.name].count(now_ns)
                tried(sink.name, outcome)
                if outcome.sent:
                    held.sent.add(sink.name)
                    self._remember(held.alert, sink.name, now_ns)
                    _append_sent(rows, held.alert, sink.name, message_id, now_ns)
                elif not outcome.answered:
                    silent.add(sink.name)
            held.tries += 1
            held.since_ns = now_ns
            if held.tries >= _TRIES or len(held.sent) == len(sinks):
                # Its row tells the others once the database is back.
                self.forget([held.alert.alert_id])
        return rows

    def _open_sinks(self, held: _InHand, sinks: Mapping[str, Sink], now_ns: int) -> Iterator[Sink]:
        alert = held.alert
        cooldown_ns = int(self._plan.cooldown_seconds * 1e9)
        for name, sink in sinks.items():
            last_ns = self._told.get((alert.run_id, str(alert.verdict.pattern), name))
            is_cooling = last_ns is not None and 0 <= now_ns - last_ns < cooldown_ns
            room = self._minutes.setdefault(name, Minute(self._settings.per_minute)).has_room(now_ns)
            if name not in held.sent and not is_cooling and room:
                yield sink

    def _remember(self, alert: Alert, sink: str, now_ns: int) -> None:
        self._told[alert.run_id, str(alert.verdict.pattern), sink] = now_ns
        if len(self._told) > _MOST:
            self._told.popitem(last=False)


def stored_ids(connection: duckdb.DuckDBPyConnection, alerts: Iterable[Alert]) -> list[str]:
    """Return the ids of those alerts whose run and pattern has a row; two that tell the same share one."""
    known = list(alerts)
    if not known:
        return []
    rows = connection.execute(
        delivery_statement("stored_alerts"), {"run_ids": as_list({alert.run_id for alert in known})}
    ).fetchall()
    stored = set(rows)
    return [alert.alert_id for alert in known if (alert.run_id, str(alert.verdict.pattern)) in stored]


def _append_sent(rows: Columns, alert: Alert, sink: str, message_id: str, now_ns: int) -> None:
    append(
        rows,
        delivery_id=message_id,
        sink=sink,
        kind="alert",
        alert_id=alert.alert_id,
        run_id=alert.run_id,
        pattern=str(alert.verdict.pattern),
        state="sent",
        attempts=1,
        created_ns=now_ns,
        due_ns=now_ns,
        tried_ns=now_ns,
        sent_ns=now_ns,
        awaits_end=True,
    )
