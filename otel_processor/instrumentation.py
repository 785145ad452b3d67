"""One line that drops everything into an agent."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from otel_processor.alerts.receivers import Receiver, call_each, register, unregister
from otel_processor.alerts.settings import AlertSettings
from otel_processor.errors import ConfigError
from otel_processor.exporter import DuckDBSpanExporter
from otel_processor.exporter.counted_batches import CountedBatches
from otel_processor.model import Alert, Mode
from otel_processor.policy import Policy
from otel_processor.processor import LoopSpanProcessor
from otel_processor.settings import BATCH_DELAY_MILLIS, DEFAULT_DB, mode_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OTLP_MISSING = "otlp_endpoint needs the OTLP exporter: pip install 'otel-processor[otlp]'"
_GRPC_PORT = 4317


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """What `instrument` set up."""

    tracer_provider: TracerProvider
    processor: LoopSpanProcessor
    exporter: DuckDBSpanExporter | None
    batches: Sequence[BatchSpanProcessor]
    receivers: Sequence[Receiver] = ()
    """What alerts of stand-alone guards are handed to."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Store and send all that has ended; return whether it was done in time and nothing was lost."""
        done = all([batch.force_flush(timeout_millis) for batch in self.batches])
        return done and (self.exporter is None or self.exporter.force_flush(timeout_millis))

    def shutdown(self) -> None:
        """Flush and stop; the tracer provider stays usable for others, and `instrument` may be called again."""
        with _lock:
            for key in [key for key, known in _known.items() if known is self]:
                del _known[key]
        for receiver in self.receivers:
            unregister(receiver)
        self.processor.shutdown()
        for batch in self.batches:
            batch.shutdown()  # type: ignore[no-untyped-call]


_known: dict[tuple[int, str, str], Instrumentation] = {}
_lock = threading.Lock()


def instrument(
    db: str | Path | None = DEFAULT_DB,
    otlp_endpoint: str | None = None,
    *,
    policy: Policy | None = None,
    mode: Mode | str | None = None,
    tracer_provider: TracerProvider | None = None,
    alerts: AlertSettings | None = None,
    on_alert: Callable[[Alert], object] | None = None,
    content: bool | None = None,
) -> Instrumentation:
    """Watch the agents of this process: tag their spans, store them, and send them on.

    Calling it again with the same arguments changes nothing.

    Args:
        db: the DuckDB file; None stores nothing here.
        otlp_endpoint: any OTLP backend that the tagged spans go to as well: `http://host:4318` (protobuf over HTTP) or
            `http://host:4317`, `grpc://host:port` (gRPC).
        policy: the thresholds; those of `$OTEL_PROCESSOR_POLICY`, or the defaults, when left out.
        mode: `observe`, `nudge` or `enforce`, as `LoopSpanProcessor` says; that of `$OTEL_PROCESSOR_MODE`, or `observe`, when
            left out.
        tracer_provider: where to add the processors; the global provider when left out, a new one if there is none.
        alerts: who is told of alerts, and how often; what `$OTEL_PROCESSOR_ALERT_…` says when left out. Messages go out from
            where the rows are: without `db` from none here.
        on_alert: called with each alert of this process, on the thread that caused it; must not block.
        content: False stores hashes and lengths of what people, models and tools said in `db`, and no texts; what
            `$OTEL_PROCESSOR_CONTENT` says when left out. What goes to `otlp_endpoint` is as the agent wrote it.

    Raises:
        ConfigError: neither `db` nor `otlp_endpoint` is given, a setting cannot be used, or what it takes is not installed.
    """
    _check(db, otlp_endpoint, policy, alerts, content)
    mode = mode_of(mode)
    with _lock:
        provider = tracer_provider or _current_provider()
        key = (id(provider), str(Path(db).absolute()) if db is not None else "", otlp_endpoint or "")
        if key in _known:
            return _known[key]
        batches: list[BatchSpanProcessor] = []
        store = None
        if otlp_endpoint is not None:
            batches.append(BatchSpanProcessor(_otlp_exporter(otlp_endpoint), schedule_delay_millis=BATCH_DELAY_MILLIS))
        if db is not None:
            store = DuckDBSpanExporter(db, policy=policy, alerts=alerts, content=content)
            batches.append(CountedBatches(store))
        receivers = [receiver for receiver in (store.tell if store else None, on_alert) if receiver is not None]
        processor = LoopSpanProcessor(
            policy,
            on_alert=partial(call_each, receivers) if receivers else None,
            on_reading=store.remember if store else None,
            earlier=store.earlier if store else None,
            mode=mode,
        )
        for added in (processor, *batches):
            provider.add_span_processor(added)
        # Log and metrics hear of a stand-alone guard also where nobody else does.
        receivers = receivers or [_hears_nothing]
        for receiver in receivers:
            register(receiver)
        _known[key] = Instrumentation(provider, processor, store, tuple(batches), tuple(receivers))
        return _known[key]


def _check(
    db: str | Path | None, otlp_endpoint: str | None, policy: Policy | None, alerts: AlertSettings | None, content: bool | None
) -> None:
    """Refuse arguments that cannot be used, or not together."""
    if alerts is not None and not isinstance(alerts, AlertSettings):
        raise ConfigError(f"alerts is a {type(alerts).__name__}; give an otel_processor.AlertSettings(...)")
    if alerts is not None and alerts.has_sinks and db is None:
        raise ConfigError("alerts= needs db=: what was sent is noted there; without one, set them where the spans are stored")
    if content is False and db is None:
        raise ConfigError(
            "content=False needs db=: what goes to otlp_endpoint is as the agent wrote it; set it where spans are stored"
        )
    if policy is not None and not isinstance(policy, Policy):
        raise ConfigError(f"policy is a {type(policy).__name__}; give an otel_processor.Policy(...)")
    if db is None and otlp_endpoint is None:
        raise ConfigError("instrument() has nowhere to put spans: give db=, otlp_endpoint=, or both")


def _hears_nothing(_: Alert) -> None:
    pass


def _current_provider() -> TracerProvider:
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        return provider
    made = TracerProvider()
    trace.set_tracer_provider(made)
    return made


def _otlp_exporter(endpoint: str) -> SpanExporter:
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in {"http", "https", "grpc", "grpcs"} or not parts.hostname:
        raise ConfigError(f"otlp_endpoint is {endpoint!r}; write it with its scheme, for example http://127.0.0.1:4318")
    try:
        if parts.scheme in {"grpc", "grpcs"} or port == _GRPC_PORT:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

            scheme = {"grpc": "http", "grpcs": "https"}.get(parts.scheme, parts.scheme)
            return GrpcExporter(endpoint=f"{scheme}://{parts.netloc}", insecure=scheme == "http")
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
    except ImportError as error:
        raise ConfigError(_OTLP_MISSING) from error
    path = parts.path.rstrip("/") or "/v1/traces"
    return HttpExporter(endpoint=f"{parts.scheme}://{parts.netloc}{path}")
