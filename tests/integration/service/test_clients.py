"""Real exporters, and an agent that sends nothing but OTLP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc  # type: ignore[import-untyped]
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult

from otel_processor.store import spool
from tests.integration.agents import agent, call_tool
from tests.integration.alert_receiver import alert_receiver
from tests.integration.service.serving import Serving, serving
from tests.integration.stored import eventually, rows, value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

TOKEN = "of-the-service"


def exporter(service: Serving, door: str) -> SpanExporter:
    if door.startswith("grpc"):
        packed = grpc.Compression.Gzip if door.endswith("gzip") else None
        target = f"http://127.0.0.1:{service.grpc_port}"
        return GrpcExporter(endpoint=target, insecure=True, headers={"authorization": f"Bearer {TOKEN}"}, compression=packed)
    return HttpExporter(
        endpoint=f"http://127.0.0.1:{service.http_port}/v1/traces",
        headers={"Authorization": f"Bearer {TOKEN}"},
        compression=Compression.Gzip if door.endswith("gzip") else Compression.NoCompression,
    )


class Heard(SpanExporter):
    """An exporter, with what became of each batch: a flush says True even where none was acknowledged."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner
        self.results: list[SpanExportResult] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans."""
        self.results.append(self._inner.export(spans))
        return self.results[-1]

    def shutdown(self) -> None:
        """End."""
        self._inner.shutdown()


def send(provider: TracerProvider, exporter: SpanExporter) -> None:
    """Have an agent make twenty calls, whose spans are acknowledged when this returns."""
    heard = Heard(exporter)
    provider.add_span_processor(BatchSpanProcessor(heard))
    tracer = provider.get_tracer("test")
    with agent(tracer, "researcher"):
        for number in range(20):
            call_tool(tracer, "search", {"query": f"part {number}"}, f"result {number} " * 5)
    assert provider.force_flush()
    assert set(heard.results) == {SpanExportResult.SUCCESS}


def assert_there(db: Path) -> None:
    """What was acknowledged is in the database, or on a busy machine in its spool, and in the database a moment later."""
    if not spool.pending(db):
        assert value(db, "select count(*) from spans") == 21
    counted = "select count(*) from spans"
    eventually(lambda: db.exists() and value(db, counted) == 21 and not spool.pending(db), seconds=20, what="the spans")
    assert rows(db, "select task, tool_calls, stop_reason from runs") == [("researcher", 20, "completed")]


@pytest.mark.parametrize("door", ["http", "http gzip", "grpc", "grpc gzip"])
def test_the_exporters_of_the_sdk(db: Path, provider: TracerProvider, door: str) -> None:
    """Spans of a Python agent are stored when its flush returns, and are calls of a run."""
    with serving(db, env={"OTEL_PROCESSOR_TOKEN": TOKEN}) as service:
        send(provider, exporter(service, door))
        assert_there(db)


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_what_is_acknowledged_may_be_in_the_spool_before_there_is_a_database(
    db: Path, provider: TracerProvider, door: str
) -> None:
    """Here because something else stands in its place; it is there a second or so after that is gone."""
    with serving(db, env={"OTEL_PROCESSOR_TOKEN": TOKEN}) as service:
        db.unlink()
        db.mkdir()
        send(provider, exporter(service, door))
        assert spool.pending(db)
        db.rmdir()
        assert_there(db)


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_an_agent_that_loops_is_told_of_while_it_loops(db: Path, provider: TracerProvider, door: str) -> None:
    """Its run is not over, it sends nothing but OTLP, and the alert is a row and a message, once."""
    with alert_receiver() as receiver:
        env = {"OTEL_PROCESSOR_ALERT_WEBHOOK": receiver.url, "OTEL_PROCESSOR_TOKEN": TOKEN}
        with serving(db, env=env) as service:
            provider.add_span_processor(SimpleSpanProcessor(exporter(service, door)))
            tracer = provider.get_tracer("test")
            with agent(tracer, "researcher"):
                for _ in range(4):
                    call_tool(tracer, "search", {"query": "the same"}, "nothing found")
                found = "select 1 from alerts where pattern = 'hard_loop'"
                eventually(lambda: db.exists() and rows(db, found), seconds=20, what="the alert")
                eventually(lambda: receiver.kinds, seconds=20, what="a message about the alert")
            told = value(db, "select count(*) from alerts where pattern = 'hard_loop'")
        assert told == 1
        assert len([message for message in receiver.messages if message.json.get("pattern") == "hard_loop"]) <= 2
