"""Alerts as metrics: what is counted, and that its attributes stay few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from otel_processor.alerts.metrics import AlertMetrics
from otel_processor.model import Action, Pattern
from tests.integration.delivering import alert

if TYPE_CHECKING:
    from collections.abc import Mapping


class Measured:
    """Metrics with a reader beside them."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.now = 0.0
        self.provider = MeterProvider([self.reader])
        self.metrics = AlertMetrics(self.provider.get_meter("t"), clock=lambda: self.now)

    def points(self) -> list[tuple[str, float, Mapping[str, Any]]]:
        """All values, each with the name of its instrument and its attributes."""
        data = self.reader.get_metrics_data()
        resources = data.resource_metrics if data is not None else ()
        every = [metric for resource in resources for scope in resource.scope_metrics for metric in scope.metrics]
        return [
            (metric.name, point.value, dict(point.attributes or {}))  # type: ignore[union-attr]
            for metric in every
            for point in metric.data.data_points
        ]

    def read(self, name: str) -> list[tuple[float, Mapping[str, Any]]]:
        """The values of an instrument with their attributes."""
        return [(value, attributes) for found, value, attributes in self.points() if found == name]

    def names(self) -> set[str]:
        """The instruments that have values, as Prometheus writes them."""
        return {name.replace(".", "_") for name, _, _ in self.points()}


def test_alerts_are_counted_by_pattern_severity_and_action() -> None:
    measured = Measured()
    measured.metrics.told(alert("run-1"))
    measured.metrics.told(alert("run-2"))
    measured.metrics.told(alert("run-3", Pattern.CYCLE, severity="warning", action=Action.NUDGE))
    assert sorted(measured.read("otel_processor.alerts"), key=str) == [
        (1, {"pattern": "cycle", "severity": "warning", "action": "nudge"}),
        (2, {"pattern": "hard_loop", "severity": "critical", "action": "stop"}),
    ]
    measured.provider.shutdown()


def test_open_alerts_are_those_that_are_not_over() -> None:
    measured = Measured()
    for run in ("run-1", "run-2"):
        measured.metrics.told(alert(run, severity="warning"))
    measured.metrics.told(alert("run-1"))
    assert len(measured.read("otel_processor.alerts.open")) == 2
    measured.metrics.over("run-1", ["hard_loop", "cycle"])
    assert measured.read("otel_processor.alerts.open") == [(1, {"pattern": "hard_loop", "severity": "warning"})]
    assert measured.read("otel_processor.alerts.resolved") == [(1, {"pattern": "hard_loop"})]
    measured.now += 7 * 3_600
    assert measured.read("otel_processor.alerts.open") == []
    measured.provider.shutdown()


def test_what_is_remembered_and_what_is_told_has_a_bound() -> None:
    measured = Measured()
    for number in range(10_050):
        measured.metrics.told(alert(f"run-{number}", task=f"task-{number}"))
    assert measured.read("otel_processor.alerts.open") == [(10_000, {"pattern": "hard_loop", "severity": "critical"})]
    assert len(measured.read("otel_processor.alerts")) == 1
    measured.provider.shutdown()


def test_tries_are_counted_by_sink_and_outcome() -> None:
    measured = Measured()
    for outcome in ("sent", "failed", "sent"):
        measured.metrics.tried("https://h.example#1", outcome)
    assert sorted(measured.read("otel_processor.alert.deliveries"), key=str) == [
        (1, {"sink": "https://h.example#1", "outcome": "failed"}),
        (2, {"sink": "https://h.example#1", "outcome": "sent"}),
    ]
    measured.provider.shutdown()
