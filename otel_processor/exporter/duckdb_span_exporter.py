"""DuckDBSpanExporter: finished spans, calls, runs and alerts into one DuckDB file."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_processor.alerts.receivers import unregister
from otel_processor.alerts.settings import AlertSettings
from otel_processor.alerts.sinks import open_sinks
from otel_processor.delivery.dispatcher import Dispatcher
from otel_processor.detection.bounded import RecentMap
from otel_processor.exporter.sdk_records import record_of
from otel_processor.model import Alert, Reading, SpanRecord
from otel_processor.policy import Policy
from otel_processor.policy_file import policy_of
from otel_processor.privacy.alerts import cleaned
from otel_processor.privacy.settings import privacy_of
from otel_processor.recording.alert_writer import AlertWriter
from otel_processor.recording.earlier import EarlierRuns
from otel_processor.recording.recorder import Recorder
from otel_processor.recording.writer import Counters
from otel_processor.retention import Retention
from otel_processor.settings import load_settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

_log = logging.getLogger(__name__)

_READINGS = 4_096
_CLOSING_SECONDS = 10.0
_DELIVERING_SECONDS = 5.0
"""So long the end of a process waits for messages; what is left is sent by whoever looks next."""

_living: weakref.WeakSet[DuckDBSpanExporter] = weakref.WeakSet()


class DuckDBSpanExporter(SpanExporter):
    """Writes spans, and what they say about agent runs, into a DuckDB file that nobody holds.

    Works behind the SDK's BatchSpanProcessor or alone. When the file cannot be entered, a batch goes to a spool beside it
    and is taken along by the next write of anybody; only when that fails too are spans dropped, and counted.
    """

    def __init__(
        self,
        db: str | Path | None = None,
        *,
        policy: Policy | None = None,
        busy_timeout_seconds: float | None = None,
        alerts: AlertSettings | None = None,
        content: bool | None = None,
    ) -> None:
        """Set up the exporter; the file is opened with the first batch.

        Args:
            db: the database file; `$OTEL_PROCESSOR_DB` or `agents.duckdb` when left out.
            policy: the thresholds that runs are judged by; those of `$OTEL_PROCESSOR_POLICY`, or the defaults, when left out.
            busy_timeout_seconds: how long a batch waits for whoever holds the file.
            alerts: who is told of alerts; what `$OTEL_PROCESSOR_ALERT_…` says when left out.
            content: False stores hashes and lengths of what people, models and tools said, and no texts; what
                `$OTEL_PROCESSOR_CONTENT` says when left out.

        Raises:
            ConfigError: an environment variable, or the file it names, cannot be used.
        """
        settings = load_settings()
        self._timeout = settings.busy_timeout_seconds if busy_timeout_seconds is None else busy_timeout_seconds
        policy = policy_of(policy)
        alerts = AlertSettings.from_environment() if alerts is None else alerts
        sinks = open_sinks(alerts)
        self._dispatcher: Dispatcher | None = None
        self._recorder = Recorder(
            db or settings.db,
            policy,
            plan=alerts.plan(tuple(sink.name for sink in sinks)),
            on_due=self._poke,
            retention=Retention.from_environment(),
            privacy=privacy_of(content=content),
        )
        if sinks:
            self._dispatcher = Dispatcher(self._recorder, sinks, alerts)
        self.earlier = EarlierRuns(self._recorder.path, policy)
        """How runs stood that this process goes on with."""
        self._alerts = AlertWriter(self._write_alerts)
        self._readings: RecentMap[tuple[str, str], Reading] = RecentMap(_READINGS)
        self._closed = False
        self._begin()
        _living.add(self)

    def _begin(self) -> None:
        """Start with a lock of its own: at first, and again in a forked child, whose parent's thread may have held it."""
        self._readings_lock = threading.Lock()
        self._received = 0
        self._dropped_before = 0

    @property
    def path(self) -> Path:
        """The database file."""
        return self._recorder.path

    @property
    def counters(self) -> Counters:
        """What became of the spans so far."""
        return self._recorder.counters

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Store finished spans; `SUCCESS` once they are in the database or durably in its spool."""
        if self._closed:
            return SpanExportResult.FAILURE
        with self._readings_lock:
            self._received += len(spans)
        records = [record for span in spans if (record := self._record(span)) is not None]
        kept = self._recorder.record(records, timeout_seconds=self._timeout, readings=self._taken_readings(records))
        return SpanExportResult.SUCCESS if kept and len(records) == len(spans) else SpanExportResult.FAILURE

    def tell(self, alert: Alert) -> None:
        """Store an alert at once, ahead of its span, and have it delivered; returns immediately."""
        alert = cleaned(alert, self._recorder.privacy)
        if self._dispatcher is not None:
            self._dispatcher.saw(alert)
        self._alerts.put(alert)

    def remember(self, trace_id: str, span_id: str, reading: Reading) -> None:
        """Keep what the processor read of a span until the span comes, so that it is read once."""
        with self._readings_lock:
            self._readings.put((trace_id, span_id), reading)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Wait until alerts are stored; spans are, when `export` returns."""
        return self._alerts.flush(timeout_millis / 1_000)

    def settle(self, ended: int) -> bool:
        """Compare with the spans that ended so far; count what never came here, and return whether any was lost since last time.

        Args:
            ended: sampled spans that had ended before what waited was exported.
        """
        with self._readings_lock:
            missing = ended - self._received
            # From now on they count as received: they are lost once.
            self._received += max(missing, 0)
        if missing > 0:
            self._recorder.lose_in_queue(missing)
        dropped = self.counters.dropped
        kept = dropped == self._dropped_before
        self._dropped_before = dropped
        return kept

    def shutdown(self) -> None:
        """Write what waits, take the spool along if the file can be entered, send what is due for some seconds, and close."""
        if self._closed:
            return
        self._closed = True
        unregister(self.tell)
        try:
            self._alerts.close(_CLOSING_SECONDS)
            self._recorder.fold_spool(timeout_seconds=self._timeout)
            if self._dispatcher is not None:
                self._dispatcher.close(_DELIVERING_SECONDS)
            self._recorder.close()
        except Exception:  # noqa: BLE001 - our own bug stays here
            _log.exception("closing %s failed", self.path)

    def _poke(self) -> None:
        if self._dispatcher is not None:
            self._dispatcher.poke()

    def _write_alerts(self, alerts: Sequence[Alert]) -> None:
        try:
            self._recorder.tell(alerts, timeout_seconds=self._timeout)
        except Exception:  # noqa: BLE001 - our own bug stays here
            _log.exception("%d alerts could not be stored", len(alerts))

    def _record(self, span: ReadableSpan) -> SpanRecord | None:
        try:
            return record_of(span)
        except Exception:  # noqa: BLE001 - a malformed span never stops the others
            self._recorder.lose(1)
            return None

    def _taken_readings(self, records: Sequence[SpanRecord]) -> dict[tuple[str, str], Reading]:
        with self._readings_lock:
            if not len(self._readings):
                return {}
            keys = [(record.trace_id, record.span_id) for record in records]
            return {key: reading for key in keys if (reading := self._readings.pop(key)) is not None}


def living_exporters() -> list[DuckDBSpanExporter]:
    """Return the exporters of this process that are in use."""
    return [exporter for exporter in _living if not exporter._closed]


def _begin_in_child() -> None:
    for exporter in list(_living):
        exporter._begin()


os.register_at_fork(after_in_child=_begin_in_child)
