"""The OpenTelemetry SDK of Python → `serve` → SQL, with the exporter of each encoding."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from tests.clients.agent import work
from tests.clients.told import SERVICE, assert_told, made_by, sender
from tests.integration.service.serving import serving

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

INSTRUMENT = Path(sys.executable).with_name("opentelemetry-instrument")

pytestmark = pytest.mark.clients

PROTOCOLS = ["grpc", "http/protobuf", "http/json"]


def exporter(protocol: str) -> SpanExporter:
    """An exporter that reads the environment."""
    if protocol == "http/json":
        json_http = pytest.importorskip(
            "opentelemetry.exporter.otlp.json.http.trace_exporter", reason="needs the exporter of OTLP/JSON: `make clients`"
        )
        return json_http.OTLPSpanExporter()  # type: ignore[no-any-return]
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc

        return Grpc()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http

    return Http()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_agent_that_sets_up_the_sdk(
    db: Path, provider: TracerProvider, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """What a batch was acknowledged for is what the database has when the flush returns."""
    with serving(db, env=SERVICE) as service:
        for name, text in sender(service, protocol).items():
            if name.startswith("OTEL_EXPORTER"):
                monkeypatch.setenv(name, text)
        provider.add_span_processor(BatchSpanProcessor(exporter(protocol)))
        ids = work(provider.get_tracer("agent"))
        assert provider.force_flush()
        assert_told(db, ids)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_agent_that_knows_nothing_of_it(db: Path, protocol: str) -> None:
    """`opentelemetry-instrument python agent.py`, with the settings in the environment."""
    if not INSTRUMENT.exists():
        pytest.skip("the extra `auto` is not installed")
    if protocol == "http/json":
        exporter(protocol)
    with serving(db, env=SERVICE) as service:
        # The distribution knows JSON by the name of its exporter only.
        env = sender(service, protocol) | {"OTEL_TRACES_EXPORTER": "otlp_json_http" if protocol == "http/json" else "otlp"}
        if protocol == "http/json":
            del env["OTEL_EXPORTER_OTLP_PROTOCOL"]
        assert_told(db, made_by([str(INSTRUMENT), sys.executable, "-m", "tests.clients.agent"], env))
