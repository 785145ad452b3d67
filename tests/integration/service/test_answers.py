"""What each kind of request is answered, as the OTLP specification says."""

from __future__ import annotations

import gzip
import http.client
import socket
import zlib
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]
import orjson
import pytest
from backports import zstd
from google.protobuf.json_format import MessageToDict
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tests.integration.service.serving import JSON, PROTOBUF, Serving, request_of, serving_here
from tests.integration.stored import rows, stored_ids, value
from tests.unit.ingest.test_otlp_protobuf import Filled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

METHOD = "/opentelemetry.proto.collector.{}.v1.{}/Export"
HALF_A_BODY = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 50\r\n\r\nab"
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, "gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstd.compress,
}  # fmt: skip
TRACES = METHOD.format("trace", "TraceService")


@pytest.fixture
def service(db: Path) -> Iterator[Serving]:
    with serving_here(db) as found:
        yield found


def call(service: Serving, body: bytes, method: str = TRACES, **options: Any) -> bytes:
    with grpc.insecure_channel(f"127.0.0.1:{service.grpc_port}") as channel:
        answer: bytes = channel.unary_unary(method)(body, timeout=30, **options)
        return answer


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate", "zstd"])
@pytest.mark.parametrize("kind", [PROTOBUF, JSON, JSON + "; charset=utf-8"])
def test_what_is_acknowledged_is_stored(service: Serving, db: Path, kind: str, encoding: str) -> None:
    """With the answer in hand the spans can be asked for, in the encoding of the request."""
    request, ids = request_of(3)
    body = request.SerializeToString() if kind == PROTOBUF else orjson.dumps(MessageToDict(request))
    answer = service.post(PACK[encoding](body), kind, **({"Content_Encoding": encoding} if encoding else {}))
    assert answer.status == 200
    assert answer.headers["content-type"] == kind.partition(";")[0]
    assert answer.body == (b"" if kind == PROTOBUF else b"{}")
    assert stored_ids(db) == sorted(ids)


def test_the_front_says_where_to_go(db: Path) -> None:
    """Without a token; each path that it names is there."""
    with serving_here(db, token="word") as service:
        front = service.ask("GET", "/")
        assert (front.status, front.headers["content-type"]) == (200, JSON)
        named = [line.split() for group in ("send", "ask", "look") for line in front.json[group]]
        assert {"/v1/traces", "/healthz", "/metrics", "/v1/openapi.json"} < {path for _, path in named}
        for method, path in named:
            answer = service.ask(method, path.partition("?")[0])
            assert answer.status in {200, 401}, (method, path)


def test_grpc_acknowledges_what_is_stored(service: Serving, db: Path) -> None:
    """The same over the other door, also compressed."""
    first, ids = request_of(3)
    second, more = request_of(2)
    assert call(service, first.SerializeToString()) == b""
    assert call(service, second.SerializeToString(), compression=grpc.Compression.Gzip) == b""
    assert stored_ids(db) == sorted(ids + more)


@pytest.mark.parametrize("kind", [PROTOBUF, JSON, "gRPC"])
def test_every_field_of_the_schema_can_be_asked_for(service: Serving, db: Path, kind: str) -> None:
    """Through both doors and in both encodings: what the schema has a field for is in `spans`, found by its descriptor."""
    filled = Filled()
    if kind == "gRPC":
        call(service, filled.request.SerializeToString())
    else:
        binary = kind == PROTOBUF
        body = filled.request.SerializeToString() if binary else orjson.dumps(MessageToDict(filled.request))
        assert service.post(body, kind).status == 200
    (row,) = rows(db, "select columns(*)::varchar from spans")
    text = "\n".join(map(str, row))
    assert len(filled.wanted) > 35
    assert {name: wanted for name, wanted in filled.wanted.items() if wanted not in text} == {}


def test_redelivered_spans_count_once(service: Serving, db: Path) -> None:
    """Over either door."""
    request, ids = request_of(4)
    body = request.SerializeToString()
    for _ in range(2):
        assert service.post(body).status == 200
        call(service, body)
    assert stored_ids(db) == sorted(ids)


def test_spans_without_ids_are_named_and_the_others_kept(service: Serving, db: Path) -> None:
    """A partial success: the sender must not send it again."""
    request, ids = request_of(3)
    request.resource_spans[0].scope_spans[0].spans[1].trace_id = b""
    answer = service.post(request.SerializeToString())
    told = ExportTraceServiceResponse.FromString(answer.body).partial_success
    assert (answer.status, told.rejected_spans) == (200, 1)
    assert "trace id" in told.error_message
    assert service.post(orjson.dumps(MessageToDict(request)), JSON).json["partialSuccess"]["rejectedSpans"] == "1"
    told = ExportTraceServiceResponse.FromString(call(service, request.SerializeToString())).partial_success
    assert told.rejected_spans == 1
    assert stored_ids(db) == sorted([ids[0], ids[2]])


def test_an_empty_request_is_a_success(service: Serving) -> None:
    """The specification says so."""
    assert service.post(b"").status == 200
    assert service.post(b"{}", JSON).body == b"{}"
    assert call(service, b"") == b""


@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
def test_what_is_malformed_is_refused_for_good(service: Serving, kind: str) -> None:
    """400 with a google.rpc.Status in the encoding of the request, and nothing that says to try again."""
    answer = service.post(b"\x0a\xff nonsense", kind)
    assert (answer.status, answer.headers["content-type"]) == (400, kind)
    assert "retry-after" not in answer.headers
    if kind == PROTOBUF:
        assert "ExportTraceServiceRequest" in Status.FromString(answer.body).message
    else:
        assert answer.json["code"] == 3
    with pytest.raises(grpc.RpcError) as caught:
        call(service, b"\x0a\xff nonsense")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_what_is_not_known_is_refused_with_the_remedy(service: Serving) -> None:
    """Content types, encodings, paths and methods."""
    assert service.post(b"x", "text/plain").status == 415
    assert "gzip" in service.post(b"{}", JSON, Content_Encoding="br").json["message"]
    astray = service.post(b"{}", JSON, "/v1/profiles")
    assert (astray.status, astray.headers["content-type"]) == (404, "application/problem+json")
    assert "GET /" in astray.json["detail"]
    assert service.ask("GET", "/v1/traces").status == 405
    with pytest.raises(grpc.RpcError) as caught:
        call(service, b"", "/opentelemetry.proto.collector.trace.v1.TraceService/Import")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_logs_and_metrics_are_taken_and_left_alone(service: Serving) -> None:
    """A sender of everything finds no errors in its log; how many came can be asked for."""
    for signal, name in (("logs", "LogsService"), ("metrics", "MetricsService")):
        assert service.post(b"{}", JSON, f"/v1/{signal}").status == 200
        assert call(service, b"", METHOD.format(signal, name)) == b""
    counts = service.ask("GET", "/healthz").json["counts"]
    assert (counts["logs_taken"], counts["metrics_taken"]) == (2, 2)


def test_what_is_too_large_is_refused_for_good(db: Path) -> None:
    """As sent, with and without its length told, decompressed, and in spans."""
    with serving_here(db, body_bytes=20_000, unpacked_bytes=40_000, request_spans=100) as service:
        small, _ = request_of(100)
        large, _ = request_of(101)
        assert service.post(small.SerializeToString()).status == 200
        many = service.post(large.SerializeToString())
        assert (many.status, "retry-after" in many.headers) == (413, False)
        assert service.post(bytes(20_001)).status == 413
        assert service.post(gzip.compress(bytes(40_001)), Content_Encoding="gzip").status == 413
        body = b"4e21\r\n" + bytes(20_001) + b"\r\n0\r\n\r\n"
        assert service.ask("POST", "/v1/traces", body, {"Content-Type": PROTOBUF, "Transfer-Encoding": "chunked"}).status == 413
        with pytest.raises(grpc.RpcError) as caught:
            call(service, large.SerializeToString())
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        for packed in (None, grpc.Compression.Gzip):
            with pytest.raises(grpc.RpcError) as caught:
                call(service, bytes(20_001), compression=packed)
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert not dict(caught.value.trailing_metadata()).get("grpc-status-details-bin")


def test_only_who_brings_the_token_is_let_in(db: Path) -> None:
    """Over both doors; whether it is alive may be asked by anybody."""
    with serving_here(db, token="t0p-secret") as service:
        request, ids = request_of(1)
        body = request.SerializeToString()
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            answer = service.post(body, **headers)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        with pytest.raises(grpc.RpcError) as caught:
            call(service, body, metadata=(("authorization", "Bearer wrong"),))
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert service.ask("GET", "/healthz").status == service.ask("GET", "/readyz").status == 200
        assert value(db, "select count(*) from spans") == 0
        assert service.post(body, Authorization="Bearer t0p-secret").status == 200
        call(service, body, metadata=(("authorization", "Bearer t0p-secret"),))
        assert stored_ids(db) == ids


@pytest.mark.parametrize(
    "begun",
    [b"", b"POST /v1/tra", HALF_A_BODY],
    ids=["nothing", "half a head", "half a body"],
)  # fmt: skip
def test_a_sender_that_does_not_go_on_is_sent_away(db: Path, begun: bytes) -> None:
    """And holds up nobody in the meantime."""
    with serving_here(db, header_seconds=0.3, body_seconds=0.3, requests=2) as service:
        with socket.create_connection(("127.0.0.1", service.http_port), timeout=20) as slow:
            slow.sendall(begun)
            assert service.post(b"").status == 200
            said = b""
            while piece := slow.recv(4_096):
                said += piece
        assert said.startswith(b"HTTP/1.1 408") if b"\r\n\r\n" in begun else not said


def test_a_connection_is_used_again(service: Serving) -> None:
    """The clock for slow senders leaves those alone that are answered."""
    connection = http.client.HTTPConnection("127.0.0.1", service.http_port, timeout=20)
    connection.connect()
    used = connection.sock
    for path in ("/healthz", "/v1/traces", "/readyz", "/healthz"):
        connection.request("POST" if path == "/v1/traces" else "GET", path, b"", {"Content-Type": PROTOBUF})
        answer = connection.getresponse()
        answer.read()
        assert (answer.status, connection.sock) == (200, used)
    connection.close()
