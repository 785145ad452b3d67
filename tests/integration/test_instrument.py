"""`otel_processor.instrument()`: one line into a file, over OTLP, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import otel_processor
from otel_processor import ConfigError, instrument
from tests.integration import processes
from tests.integration.agents import loop
from tests.integration.otlp_receiver import grpc_receiver, http_receiver
from tests.integration.stored import rows, value

if TYPE_CHECKING:
    from pathlib import Path


def test_calling_it_twice_doubles_nothing(provider: TracerProvider, db: Path) -> None:
    seen = InMemorySpanExporter()
    first = instrument(db=db, tracer_provider=provider)
    second = instrument(db=str(db), tracer_provider=provider)
    assert first is second
    provider.add_span_processor(SimpleSpanProcessor(seen))
    loop(provider.get_tracer("agent"), 3)
    assert first.force_flush()
    assert value(db, "select count(*) from spans") == 4
    assert value(db, "select count(*) from alerts") == 1
    assert value(db, "select sum(duplicates) from writers") == 0
    assert sum(len(span.events) for span in seen.get_finished_spans()) == 1


def test_after_a_shutdown_it_begins_anew(provider: TracerProvider, db: Path) -> None:
    seen = InMemorySpanExporter()
    first = instrument(db=db, tracer_provider=provider)
    first.shutdown()
    first.shutdown()
    second = instrument(db=db, tracer_provider=provider)
    assert second is not first
    provider.add_span_processor(SimpleSpanProcessor(seen))
    loop(provider.get_tracer("agent"), 3)
    assert second.force_flush()
    assert not first.force_flush()
    assert value(db, "select count(*) from spans") == 4
    assert sum(len(span.events) for span in seen.get_finished_spans()) == 1


def test_shutdown_stores_what_ended(provider: TracerProvider, db: Path) -> None:
    installed = instrument(db=db, tracer_provider=provider)
    loop(provider.get_tracer("agent"), 3)
    installed.shutdown()
    assert rows(db, "select tool_calls, flagged_reason from runs") == [(3, "loop_detected:repeated_tool_signature")]


def test_the_provider_s_own_shutdown_is_enough(db: Path) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    instrument(db=db, tracer_provider=provider)
    loop(provider.get_tracer("agent"), 3)
    provider.shutdown()
    assert rows(db, "select tool_calls from runs") == [(3,)]
    assert value(db, "select count(*) from alerts") == 1


@pytest.mark.parametrize("receiver", [http_receiver, grpc_receiver])
@pytest.mark.parametrize("beside_a_file", [True, False])
def test_tagged_spans_go_out_over_otlp(receiver: Any, beside_a_file: bool, provider: TracerProvider, db: Path) -> None:
    with receiver() as received:
        installed = instrument(db=db if beside_a_file else None, otlp_endpoint=received.endpoint, tracer_provider=provider)
        told = loop(provider.get_tracer("agent"), 3)
        assert installed.force_flush()
        installed.shutdown()
    assert len(received.spans) == 4
    tools = received.tools()
    assert [tool["loop.repeats"] for tool in tools] == [1, 2, 3]
    assert [tool["loop.flat_steps"] for tool in tools] == [0, 1, 2]
    assert tools[2]["loop.pattern"] == "hard_loop"
    alerts = [event for span in received.spans for event in span.events]
    assert [event.name for event in alerts] == ["loop.alert"]
    assert len(received.paths) == 1
    assert db.exists() == beside_a_file
    if beside_a_file:
        assert rows(db, "select span_id from calls order by ended_at") == [(span_id,) for span_id in told]


def test_http_takes_a_base_address_or_the_whole_path(provider: TracerProvider) -> None:
    with http_receiver() as received:
        for path in ("", "/", "/v1/traces", "/custom/v1/traces"):
            other = TracerProvider(shutdown_on_exit=False)
            installed = instrument(db=None, otlp_endpoint=received.endpoint + path, tracer_provider=other)
            loop(other.get_tracer("agent"), 1)
            assert installed.force_flush()
            other.shutdown()
    assert received.paths == {"/v1/traces", "/custom/v1/traces"}
    assert len(received.spans) == 8


@pytest.mark.parametrize(
    "endpoint", ["127.0.0.1:4318", "localhost", "http://", "http://host:port", "ftp://host", "http://[::1", ""]
)
def test_an_endpoint_that_cannot_be_one_is_said_at_once(endpoint: str, provider: TracerProvider) -> None:
    with pytest.raises(ConfigError, match="scheme"):
        instrument(db=None, otlp_endpoint=endpoint, tracer_provider=provider)


def test_nowhere_to_put_spans_is_said_at_once(provider: TracerProvider) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        instrument(db=None, tracer_provider=provider)


@pytest.mark.parametrize("setting", ["soon", "-1", "1e9", "nan"])
def test_a_setting_that_cannot_be_used_is_named(
    setting: str, provider: TracerProvider, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_PROCESSOR_BUSY_TIMEOUT", setting)
    with pytest.raises(ConfigError, match="OTEL_PROCESSOR_BUSY_TIMEOUT"):
        instrument(db=db, tracer_provider=provider)


_WITHOUT_OTLP = """
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("opentelemetry.exporter"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
import otel_processor
for endpoint in ("http://127.0.0.1:4318", "http://127.0.0.1:4317"):
    try:
        otel_processor.instrument(db=None, otlp_endpoint=endpoint)
    except otel_processor.ConfigError as error:
        print(error)
otel_processor.instrument(db=sys.argv[1])
loop(trace.get_tracer("agent"), 1)
"""


def test_without_the_otlp_extra_the_error_names_it(db: Path) -> None:
    out, _ = processes.run(_WITHOUT_OTLP, db)
    assert out.count("pip install 'otel-processor[otlp]'") == 2
    assert value(db, "select count(*) from spans") == 2


def test_an_otlp_backend_that_is_down_costs_the_file_nothing(db: Path) -> None:
    _, errors = processes.run(
        """
from otel_processor import instrument
installed = instrument(sys.argv[1], "http://127.0.0.1:9")
loop(trace.get_tracer("agent"), 3)
""",
        db,
        env={"OTEL_EXPORTER_OTLP_TIMEOUT": "1"},
        seconds=50,
    )
    assert "Failed to export" in errors or "Transient error" in errors or "Connection" in errors
    assert rows(db, "select tool_calls from runs") == [(3,)]


def test_the_global_provider_is_used_or_made(db: Path) -> None:
    processes.run(
        """
import otel_processor
assert not isinstance(trace.get_tracer_provider(), TracerProvider)
installed = otel_processor.instrument(db=sys.argv[1])
assert trace.get_tracer_provider() is installed.tracer_provider
assert otel_processor.instrument(db=sys.argv[1]) is installed
loop(trace.get_tracer("agent"), 3)
""",
        db,
    )
    assert rows(db, "select tool_calls from runs") == [(3,)]
    with otel_processor.connect(db) as connection:
        assert connection.execute("select count(*) from spans").fetchone() == (4,)
