"""The service's own numbers for Prometheus: read where they are kept, when somebody asks."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import duckdb
from prometheus_client import CollectorRegistry, GCCollector, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from otel_processor.service.refused import reason_of
from otel_processor.store import spool
from otel_processor.version import package_version

if TYPE_CHECKING:
    from otel_processor.recording.recorder import Recorder
    from otel_processor.service.counts import Counts
    from otel_processor.service.room import Room

_PREFIX: Final = "otel_processor_"
_SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SPANS: Final = (1, 10, 50, 100, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000)


class ServiceMetrics(Collector):
    """All numbers of one service, in a registry of its own. Label values are words of ours: their number is bounded."""

    def __init__(
        self,
        counts: Counts,
        room: Room,
        recorder: Recorder,
        *,
        state: Callable[[], dict[str, object]],
        certificate_end: Callable[[], float] | None = None,
    ) -> None:
        """Set up the registry.

        Args:
            counts: of requests, spans, bytes and alerts.
            room: what waits.
            recorder: what became of spans.
            state: as of `/readyz`.
            certificate_end: second since the epoch when the certificate ends; None without TLS.
        """
        self._counts = counts
        self._room = room
        self._recorder = recorder
        self._state = state
        self._certificate_end = certificate_end
        self._registry = CollectorRegistry()
        self._commit_seconds = Histogram(
            f"{_PREFIX}commit_duration_seconds",
            "Time that one group of spans took to be judged and stored, by where it went.",
            ["place"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._commit_spans = Histogram(
            f"{_PREFIX}commit_spans", "Spans that were stored together.", buckets=_SPANS, registry=self._registry
        )
        self._registry.register(self)
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)

    def committed(self, seconds: float, spans: int, place: str) -> None:
        """Take in how long a group took; `place` is `database`, `spool` or `none`."""
        self._commit_seconds.labels(place).observe(seconds)
        self._commit_spans.observe(spans)

    def text(self, accept: str) -> tuple[bytes, str]:
        """Return all of it in the format that an `Accept` header asks for, and the name of that; looks at the spool's folder."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def collect(self) -> Iterator[Metric]:
        """Read the numbers; called by the registry."""
        yield from self._requests()
        yield from self._spans()
        yield from self._waiting()
        yield from self._surroundings()

    def _requests(self) -> Iterator[Metric]:
        answers = {
            (signal, transport, reason_of(status)): number for (signal, transport, status), number in self._counts.answers.items()
        }
        yield _counter("requests", "Requests by what was answered.", ("signal", "transport", "outcome"), answers)
        received = {(transport,): size for transport, size in self._counts.received.items()}
        yield _counter("received_bytes", "Bytes of bodies: as sent over HTTP, decompressed over gRPC.", ("transport",), received)

    def _spans(self) -> Iterator[Metric]:
        counters = self._recorder.counters
        yield _counter("received_spans", "Spans that came and could be read.", (), {(): self._counts.number("spans")})
        records = {("agents",): self._counts.number("log_records"), ("others",): self._counts.number("log_records_left_alone")}
        yield _counter("received_log_records", "Log records: kept as spans, and left alone.", ("of",), records)
        left_out = {(reason,): number for reason, number in self._counts.left_out.items()}
        yield _counter("refused_spans", "Spans and log records left out of requests that were taken.", ("reason",), left_out)
        yield _counter("stored_spans", "Spans committed to the database.", (), {(): counters.written})
        yield _counter("duplicate_spans", "Spans that were stored already.", (), {(): counters.duplicates})
        yield _counter("spooled_spans", "Spans that went to the spool first.", (), {(): counters.spooled})
        yield _counter("cut_values", "Values that were shortened.", (), {(): counters.cut})
        yield _counter("lock_waits", "Times that another process held the file.", (), {(): counters.lock_waits})
        yield _counter("runs_put_away", "Runs forgotten to make room for others.", (), {(): counters.put_away})
        yield _counter("alerts", "Alerts new to the database or graver now.", ("pattern", "severity"), self._counts.alerts)
        if (open_runs := self._recorder.open_runs) is not None:
            yield _gauge("open_runs", "Runs in the database that are going on, looked at once a minute.", open_runs)

    def _waiting(self) -> Iterator[Metric]:
        requests, size, spans = self._room.held
        yield _gauge("waiting_requests", "Requests being read, decoded or stored.", requests)
        yield _gauge("waiting_bytes", "Bytes of these requests.", size)
        yield _gauge("waiting_spans", "Spans of these requests.", spans)
        files, spooled = spool.extent(self._recorder.path)
        yield _gauge("spool_files", "Batches that wait beside the database.", files)
        yield _gauge("spool_bytes", "Bytes of these batches.", spooled)

    def _surroundings(self) -> Iterator[Metric]:
        yield _gauge("ready", "1 while spans find a place.", float(bool(self._state()["ready"])))
        if self._certificate_end is not None:
            at = self._certificate_end()
            yield _gauge("tls_certificate_expiry_timestamp_seconds", "When the certificate ends.", at)
        versions = (package_version(), duckdb.__version__, platform.python_version())
        built = GaugeMetricFamily(
            f"{_PREFIX}build_info", "Versions; always 1.", labels=("version", "duckdb_version", "python_version")
        )
        built.add_metric(versions, 1)
        yield built


def _counter(name: str, text: str, labels: Iterable[str], numbers: Mapping[Any, int]) -> Metric:
    family = CounterMetricFamily(f"{_PREFIX}{name}", text, labels=tuple(labels))
    for values, number in sorted(numbers.items()):
        family.add_metric(values, number)
    return family


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"{_PREFIX}{name}", text, value=value)
