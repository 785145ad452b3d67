"""SDK → Collector → several `serve` → SQL, with `collector-config.many.yaml` but for the names of machines as it is."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.collector.collecting import MANY, collecting, free_ports, has_component
from tests.integration.agents import agent, call_tool, span_id
from tests.integration.service.serving import serving
from tests.integration.stored import eventually, rows, stored_ids

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

PROGRAM = os.environ.get("OTELCOL", "")
TOKEN = "of-the-service"
ENV = {"OTEL_PROCESSOR_TOKEN": TOKEN}

pytestmark = [
    pytest.mark.skipif(
        not PROGRAM or not has_component(PROGRAM, "load_balancing"),
        reason="needs a Collector with load_balancing: set OTELCOL to one, or build it with tests/collector/run.sh",
    ),
    pytest.mark.timeout(300),
]


def test_a_trace_is_in_one_place(tmp_path: Path, temp_folder: Path, provider: TracerProvider) -> None:
    """Each run is whole in one of two databases, each span is there once, also when a machine is away for a time."""
    ports = free_ports(2)
    names = tmp_path / "names.yaml"
    static = {"hostnames": [f"127.0.0.1:{port}" for port in ports]}
    names.write_text(json.dumps({"exporters": {"load_balancing/serve": {"resolver": {"static": static}}}}))
    first, second = tmp_path / "first.duckdb", tmp_path / "second.duckdb"
    tracer = provider.get_tracer("test")
    sent: list[str] = []

    def work(runs: int) -> None:
        for _ in range(runs):
            with agent(tracer, "researcher") as span:
                sent.append(span_id(span))
                sent.extend(call_tool(tracer, "search", {"query": f"part {n}"}, f"result {n}") for n in range(5))
        assert provider.force_flush(60_000)

    def all_stored() -> bool:
        return len(stored_ids(first)) + len(stored_ids(second)) >= len(sent)

    with (
        collecting(PROGRAM, tmp_path, 1, TOKEN, MANY, names) as collector,
        serving(first, "--http", "off", env=ENV, grpc=ports[0]),
    ):
        exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{collector.grpc_port}", insecure=True)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        with serving(second, "--http", "off", env=ENV, grpc=ports[1]) as away:
            work(40)
            eventually(all_stored, seconds=60, what="all spans in both")
            away.kill()
        work(40)
        collector.kill()
        collector.start()
        with serving(second, "--http", "off", env=ENV, grpc=ports[1]):
            eventually(all_stored, seconds=90, what="all spans after a machine's return")
    assert sorted(stored_ids(first) + stored_ids(second)) == sorted(sent)
    counted = [rows(db, "select count(*), min(tool_calls), max(tool_calls) from runs")[0] for db in (first, second)]
    assert sum(runs for runs, _, _ in counted) == 80
    assert [calls for _, *calls in counted] == [[5, 5], [5, 5]]
