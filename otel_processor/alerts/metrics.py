"""Alerts as OpenTelemetry metrics, for a Prometheus or Grafana that alerts already.

Only the API is used: without a meter provider nothing is counted and nothing costs. Attributes are patterns, severities, actions
and the names of configured sinks, never runs or tasks: their number is bounded.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, Meter, Observation

from otel_processor.model import Alert
from otel_processor.version import package_version

_OPEN = 10_000
"""Open alerts that are remembered; the oldest go first."""

_OPEN_SECONDS = 6 * 3_600.0
"""An alert that nobody ended counts as open for so long."""


class AlertMetrics:
    """Counts alerts, those that are open and what became of messages. Thread-safe."""

    def __init__(self, meter: Meter, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Make the instruments.

        Args:
            meter: of the provider that they belong to.
            clock: seconds, from any beginning.
        """
        self._clock = clock
        self._begin()
        self._alerts = meter.create_counter(
            "otel_processor.alerts", unit="{alert}", description="Alerts told, by pattern, severity and advised action."
        )
        self._resolved = meter.create_counter(
            "otel_processor.alerts.resolved", unit="{alert}", description="Alerts that were over while their run was watched."
        )
        self._deliveries = meter.create_counter(
            "otel_processor.alert.deliveries", unit="{message}", description="Tries to deliver a message, by sink and outcome."
        )
        meter.create_observable_gauge(
            "otel_processor.alerts.open",
            [self._observe],
            unit="{alert}",
            description="Alerts of this process that are open, by pattern and severity.",
        )

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, str], tuple[str, float]] = OrderedDict()

    def told(self, alert: Alert) -> None:
        """Count an alert that was told, or became graver."""
        verdict = alert.verdict
        pattern, severity = str(verdict.pattern), verdict.severity
        self._alerts.add(1, {"pattern": pattern, "severity": severity, "action": str(verdict.action)})
        with self._lock:
            self._open[alert.run_id, pattern] = (severity, self._clock())
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)

    def over(self, run_id: str, patterns: Iterable[str]) -> None:
        """Count alerts of a run as over, as far as they were open."""
        for pattern in patterns:
            with self._lock:
                known = self._open.pop((run_id, str(pattern)), None)
            if known is not None:
                self._resolved.add(1, {"pattern": str(pattern)})

    def tried(self, sink: str, outcome: str) -> None:
        """Count a try to deliver: `sent`, `failed` or `gave_up`."""
        self._deliveries.add(1, {"sink": sink, "outcome": outcome})

    def _observe(self, _options: CallbackOptions) -> list[Observation]:
        since = self._clock() - _OPEN_SECONDS
        with self._lock:
            counts = Counter((pattern, severity) for (_, pattern), (severity, at) in self._open.items() if at >= since)
        return [Observation(number, {"pattern": pattern, "severity": severity}) for (pattern, severity), number in counts.items()]


_made: AlertMetrics | None = None
_making = threading.Lock()


def alert_metrics() -> AlertMetrics:
    """Return the metrics of this process, under the global meter provider."""
    global _made
    if _made is None:
        with _making:
            if _made is None:
                _made = AlertMetrics(metrics.get_meter("otel_processor", package_version()))
    return _made


def _begin_in_child() -> None:
    global _making
    _making = threading.Lock()
    if _made is not None:
        _made._begin()


os.register_at_fork(after_in_child=_begin_in_child)
