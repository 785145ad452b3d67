"""SDK → Collector → `serve` → SQL, with `collector-config.yaml` as it is. `tests/collector/run.sh` builds the Collector."""

from __future__ import annotations

import json
import os
import threading
import time
import urllib.request
from typing import TYPE_CHECKING

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind

from otel_processor.dialects import names
from otel_processor.dialects.reader import DIALECTS
from tests.collector.collecting import Collector, collecting, free_ports
from tests.integration.agents import agent, ask_model, call_tool, span_id
from tests.integration.service.serving import serving
from tests.integration.stored import eventually, rows, stored_ids, value
from tests.made_logs import WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

PROGRAM = os.environ.get("OTELCOL", "")
TOKEN = "of-the-service"
ENV = {"OTEL_PROCESSOR_TOKEN": TOKEN}
KEY = "sk-proj-" + "a1B2c3D4e5F6" * 3

pytestmark = [
    pytest.mark.skipif(not PROGRAM, reason="needs a Collector: set OTELCOL to one, or build it with tests/collector/run.sh"),
    pytest.mark.timeout(300),
]


class Patient(SpanExporter):
    """Sends a batch until it is accepted, and keeps the ids of what was."""

    def __init__(self, inner: SpanExporter) -> None:
        self.inner = inner
        self.accepted: list[str] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send it."""
        deadline = time.monotonic() + 90
        while self.inner.export(spans) is not SpanExportResult.SUCCESS:
            if time.monotonic() > deadline:
                return SpanExportResult.FAILURE
        self.accepted += [f"{span.context.span_id:016x}" for span in spans if span.context is not None]
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """End the exporter inside."""
        self.inner.shutdown()


@pytest.fixture
def serve_port() -> int:
    """Where `serve` will be, each time that it is started."""
    return free_ports(1)[0]


@pytest.fixture
def collector(tmp_path: Path, serve_port: int) -> Iterator[Collector]:
    """A Collector that is up, while `serve` may not be."""
    with collecting(PROGRAM, tmp_path, serve_port, TOKEN) as up:
        yield up


def over(collector: Collector, door: str) -> Patient:
    """The exporter of the SDK."""
    if door == "grpc":
        return Patient(GrpcExporter(endpoint=f"http://127.0.0.1:{collector.grpc_port}", insecure=True, timeout=10))
    return Patient(HttpExporter(endpoint=f"http://127.0.0.1:{collector.http_port}/v1/traces", timeout=10))


@pytest.mark.parametrize("door", ["grpc", "http"])
def test_both_are_killed_while_agents_work(
    db: Path, provider: TracerProvider, collector: Collector, serve_port: int, door: str
) -> None:
    """`kill -9` of `serve`, of the Collector while it is away, of both again under load: every accepted span is there once."""
    sent = over(collector, door)
    provider.add_span_processor(BatchSpanProcessor(sent, max_queue_size=100_000, max_export_batch_size=50))
    tracer = provider.get_tracer("test")

    def work(runs: int) -> None:
        for _ in range(runs):
            with agent(tracer, "researcher"):
                for number in range(20):
                    call_tool(tracer, "search", {"query": f"part {number}"}, f"result {number} " * 5)

    def flushed(count: int) -> None:
        assert provider.force_flush(120_000)
        assert len(sent.accepted) == count

    with serving(db, "--grpc", "off", env=ENV, http=serve_port) as first:
        work(5)
        flushed(105)
        eventually(lambda: value(db, "select count(*) from spans") > 0, seconds=60, what="spans while all is well")
        first.kill()
    work(5)
    flushed(210)
    collector.kill()
    collector.start()
    work(5)
    flushed(315)

    done = threading.Event()

    def load() -> None:
        while not done.is_set():
            work(1)
            time.sleep(0.01)

    sender = threading.Thread(target=load)
    sender.start()
    try:
        with serving(db, "--grpc", "off", env=ENV, http=serve_port) as second:
            eventually(lambda: value(db, "select count(*) from spans") >= 315, seconds=60, what="spans held while it was away")
            collector.kill()
            collector.start()
            seen = len(sent.accepted)
            eventually(lambda: len(sent.accepted) > seen, seconds=60, what="spans after the Collector's return")
            second.kill()
        seen = len(sent.accepted)
        eventually(lambda: len(sent.accepted) > seen, seconds=60, what="spans while `serve` is away")
    finally:
        done.set()
        sender.join()
    assert provider.force_flush(120_000)
    with serving(db, "--grpc", "off", env=ENV, http=serve_port):
        eventually(lambda: value(db, "select count(*) from spans") >= len(sent.accepted), seconds=90, what="all spans at the end")
        assert stored_ids(db) == sorted(sent.accepted)
    runs = len(sent.accepted) // 21
    assert rows(db, "select count(*), sum(tool_calls), min(tool_calls) from runs") == [(runs, 20 * runs, 20)]


def test_spans_of_agents_and_roots_are_kept(db: Path, provider: TracerProvider, collector: Collector, serve_port: int) -> None:
    """Whatever a dialect knows a span by is kept; a query to a database is not; roots and entrances of services are."""
    sent = over(collector, "http")
    provider.add_span_processor(BatchSpanProcessor(sent))
    tracer = provider.get_tracer("shop")
    kept: list[str] = []
    with tracer.start_as_current_span("GET /orders") as root:
        kept.append(span_id(root))
        with tracer.start_as_current_span("handle", kind=SpanKind.SERVER) as entrance:
            kept.append(span_id(entrance))
        for kind in (SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.PRODUCER):
            with tracer.start_as_current_span("select", kind=kind, attributes={"db.system.name": "postgresql"}):
                pass
        for marker in sorted(set().union(*(dialect.markers for dialect in DIALECTS)) - {names.LOG_EVENT} | {"loop.task"}):
            with tracer.start_as_current_span(marker, attributes={marker: "x"}) as span:
                kept.append(span_id(span))
        for scope in sorted(set().union(*(dialect.scopes for dialect in DIALECTS))):
            with provider.get_tracer(scope).start_as_current_span(scope) as span:
                kept.append(span_id(span))
    with serving(db, "--grpc", "off", env=ENV, http=serve_port):
        assert provider.force_flush(60_000)
        eventually(lambda: len(stored_ids(db)) >= len(kept), seconds=60, what="what is to be kept")
        # They came in one request, so what else was to come is there as well.
        assert stored_ids(db) == sorted(kept)
    assert len(sent.accepted) == len(kept) + 3


@pytest.mark.parametrize("writer", WRITERS)
def test_log_records_of_coding_agents_arrive_and_no_others(db: Path, collector: Collector, serve_port: int, writer: str) -> None:
    """A session that is told in logs alone is a run behind the Collector, with its arguments; a secret in them is a hash."""
    session = WRITERS[writer](traced=False)
    request = session.logs_request()
    (scope,) = request["resourceLogs"][0]["scopeLogs"]
    other = {"scope": {"name": "my.app"}, "logRecords": [{"timeUnixNano": "1", "body": {"stringValue": f"GET /?key={KEY}"}}]}
    request["resourceLogs"][0]["scopeLogs"].append(other)
    for pair in scope["logRecords"][-1]["attributes"]:
        if pair["key"] == "event.name":
            scope["logRecords"][-1]["attributes"].append({"key": "note", "value": {"stringValue": KEY}})
            break
    body = json.dumps(request).encode()
    ask = urllib.request.Request(f"http://127.0.0.1:{collector.http_port}/v1/logs", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(ask, timeout=30) as answer:
        assert answer.status == 200
    with serving(db, "--grpc", "off", env=ENV, http=serve_port) as service:
        eventually(lambda: rows(db, "select * from runs"), seconds=60, what="the run")
        assert rows(db, "select tool_calls, model_calls from runs") == [(4, 5)]
        assert value(db, "select count(*) from calls where arguments like '%weather.txt%'") == 3
        assert value(db, f"select count(*) from spans where attributes::VARCHAR like '%{KEY}%'") == 0
        counts = service.ask("GET", "/healthz").json["counts"]
        assert counts["logs_taken"] == 1
        # What the Collector cannot know by its name: pieces of streams and requests that say nothing here.
        assert counts.get("log_records_left_alone", 0) == len(session.records) - counts["log_records"]


def test_secrets_do_not_arrive(db: Path, provider: TracerProvider, collector: Collector, serve_port: int) -> None:
    """Keys in arguments, results, events and headers become hashes, equal where they were; counts of tokens stay."""
    provider.add_span_processor(SimpleSpanProcessor(over(collector, "http")))
    tracer = provider.get_tracer("test")
    headers = {"http.request.header.authorization": ("Basic c2VjcmV0",), "db.password": "hunter2"}
    with agent(tracer, "clerk", more=headers) as span:
        span.add_event("said", {"text": f"use {KEY}"})
        for _ in range(2):
            call_tool(tracer, "lookup", {"key": KEY, "order_id": 7}, f"refused: {KEY}")
        call_tool(tracer, "lookup", {"key": KEY + "x", "order_id": 7}, "refused")
        ask_model(tracer, tokens=(123, 45))
    with serving(db, "--grpc", "off", env=ENV, http=serve_port):
        eventually(lambda: len(stored_ids(db)) == 5, seconds=60, what="the run")
    everything = str(rows(db, "select * from spans")) + str(rows(db, "select * from calls"))
    for secret in (KEY, "c2VjcmV0", "hunter2"):
        assert secret not in everything
    assert '"order_id":7' in everything.replace(" ", "").replace('\\"', '"')
    first, again, other = rows(db, "select arguments::varchar, signature from calls where tool = 'lookup' order by step")
    assert first == again
    assert first[1] != other[1]
    assert rows(db, "select input_tokens, output_tokens from calls where kind = 'model'") == [(123, 45)]
