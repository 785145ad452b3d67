"""What the service says of itself: `/metrics` for Prometheus, `grpc.health.v1` where there is no HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc  # type: ignore[import-untyped]
import pytest
from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from prometheus_client.parser import text_string_to_metric_families

from otel_processor.store import spool
from otel_processor.store.database import Database
from tests.integration.agents import agent, call_tool
from tests.integration.processes import held
from tests.integration.service.serving import JSON, Serving, request_of, serving_here
from tests.integration.service.test_answers import call
from tests.integration.stored import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

CHECK = "/grpc.health.v1.Health/Check"


def numbers(service: Serving, **headers: str) -> dict[str, float]:
    """All samples as `name{label="value",…}`, without our prefix."""
    answer = service.ask("GET", "/metrics", headers=headers)
    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    found = {}
    for family in text_string_to_metric_families(answer.body.decode()):
        assert family.documentation
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            found[sample.name.removeprefix("otel_processor_") + (f"{{{labels}}}" if labels else "")] = float(sample.value)
    return found


def test_requests_and_spans_are_counted(db: Path) -> None:
    """By signal, transport and outcome; a span by what became of it."""
    with serving_here(db) as service:
        request, _ = request_of(4)
        body = request.SerializeToString()
        assert service.post(body).status == 200
        call(service, body)
        request.resource_spans[0].scope_spans[0].spans[0].trace_id = b""
        assert service.post(request.SerializeToString()).status == 200
        assert service.post(b"nonsense").status == 400
        assert service.post(b"{}", JSON, "/v1/logs").status == 200
        found = numbers(service)
        assert found['requests_total{outcome="taken",signal="traces",transport="http"}'] == 2
        assert found['requests_total{outcome="malformed",signal="traces",transport="http"}'] == 1
        assert found['requests_total{outcome="taken",signal="traces",transport="grpc"}'] == 1
        assert found['requests_total{outcome="taken",signal="logs",transport="http"}'] == 1
        assert (found["stored_spans_total"], found["duplicate_spans_total"], found["received_spans_total"]) == (4, 7, 11)
        assert found['refused_spans_total{reason="malformed"}'] == 1
        assert found['received_bytes_total{transport="grpc"}'] == len(body)
        assert found['received_bytes_total{transport="http"}'] > len(body)
        assert found['commit_duration_seconds_count{place="database"}'] == found["commit_spans_count"] == 3
        assert found["commit_spans_sum"] == 11
        assert (found["waiting_requests"], found["waiting_spans"], found["waiting_bytes"]) == (0, 0, 0)
        assert found["ready"] == 1
        assert found["process_resident_memory_bytes"] > 1 << 20
        assert [name for name in found if name.startswith("build_info")]


def test_what_waits_shows(db: Path) -> None:
    """While somebody holds the file: batches in the spool, waits for the lock, and what went where."""
    with Database(db).write(timeout_seconds=5):
        pass
    with serving_here(db) as service:
        with held(db):
            assert service.post(request_of(3)[0].SerializeToString()).status == 200
            found = numbers(service)
            assert (found["spool_files"], found["spooled_spans_total"]) == (1, 3)
            assert found["spool_bytes"] == sum(path.stat().st_size for path in spool.pending(db))
            assert found["lock_waits_total"] >= 1
            assert found['commit_duration_seconds_count{place="spool"}'] == 1
        eventually(lambda: numbers(service)["spool_files"] == 0, seconds=20, what="the spool taken along")
        assert numbers(service)["stored_spans_total"] == 3


def test_alerts_and_open_runs_show(db: Path, provider: TracerProvider) -> None:
    """An alert counts once, by its pattern; a run that is not over is open."""
    with serving_here(db) as service:
        to = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{service.http_port}/v1/traces")
        provider.add_span_processor(SimpleSpanProcessor(to))
        with agent(provider.get_tracer("test"), "researcher"):
            for _ in range(5):
                call_tool(provider.get_tracer("test"), "search", {"query": "the same"}, "nothing found")
            found = numbers(service)
        told = {name: number for name, number in found.items() if name.startswith('alerts_total{pattern="hard_loop"')}
        assert sum(told.values()) >= 1
        assert len(told) == sum(told.values())
        assert found["open_runs"] == 1


def test_only_who_brings_the_token_may_read_them(db: Path) -> None:
    """They tell of the work of others; a Prometheus can bring it. Senders choose no words of theirs."""
    with serving_here(db, token="t0p-secret") as service:
        refused = service.ask("GET", "/metrics")
        assert (refused.status, refused.headers["www-authenticate"], refused.body) == (401, "Bearer", b"")
        assert service.ask("GET", "/metrics", headers={"Authorization": "Bearer wrong"}).status == 401
        before = numbers(service, Authorization="Bearer t0p-secret")
        for number in range(20):
            assert service.post(b"", f"text/kind-{number}", f"/v1/path-{number}").status == 404
            assert service.post(b"", f"text/kind-{number}").status == 401
        after = numbers(service, Authorization="Bearer t0p-secret")
        assert set(after) - set(before) == {'requests_total{outcome="unauthenticated",signal="traces",transport="http"}'}


def check(service: Serving, name: str = "") -> int:
    with grpc.insecure_channel(f"127.0.0.1:{service.grpc_port}") as channel:
        asked = health_pb2.HealthCheckRequest(service=name).SerializeToString()
        return int(health_pb2.HealthCheckResponse.FromString(channel.unary_unary(CHECK)(asked, timeout=20)).status)


def test_grpc_health_follows_readiness(db: Path) -> None:
    """Without a token; for the server and for traces. Not serving while neither database nor spool can be written."""
    with Database(db).write(timeout_seconds=5):
        pass
    serving, not_serving = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
    with serving_here(db, token="t0p-secret") as service:
        for name in ("", "opentelemetry.proto.collector.trace.v1.TraceService"):
            assert check(service, name) == serving
        for asked, code in ((b"\x0a\x01x", "NOT_FOUND"), (b"\xff", "INVALID_ARGUMENT")):
            with pytest.raises(grpc.RpcError) as caught:
                call(service, asked, CHECK)
            assert caught.value.code().name == code
        spool.folder_of(db).write_text("in the way of the spool")
        with held(db):
            answer = service.post(request_of(1)[0].SerializeToString(), Authorization="Bearer t0p-secret")
            assert answer.status == 503
            assert check(service) == not_serving
            assert numbers(service, Authorization="Bearer t0p-secret")["ready"] == 0
