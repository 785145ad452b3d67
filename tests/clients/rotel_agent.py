"""The agent of `agent.py` in a process that brings its forwarder along: Rotel, started as its documentation says.

Ports and the rest come in by the environment: `ROTEL_…` for the forwarder, `OTEL_EXPORTER_OTLP_…` for the SDK.
"""

from __future__ import annotations

import os

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from rotel import Config, Rotel

from tests.clients.agent import work


def main() -> None:
    """Work, flush, and end the forwarder, which sends what it has."""
    exporter = Config.otlp_exporter(
        endpoint=os.environ["SERVICE"],
        protocol=os.environ["SERVICE_PROTOCOL"],
        headers={"authorization": f"Bearer {os.environ['SERVICE_TOKEN']}"},
        compression="gzip",
        retry_initial_backoff="100ms",
        retry_max_backoff="200ms",
    )
    forwarder = Rotel(enabled=True, exporter=exporter)
    forwarder.start()
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(insecure=True)))
    ids = work(provider.get_tracer("agent"))
    provider.shutdown()
    print(*ids, sep="\n", flush=True)
    # The test says when the service has been there for long enough.
    input()
    forwarder.stop()


main()
