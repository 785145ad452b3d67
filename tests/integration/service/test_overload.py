"""A file that somebody holds, a disk that takes nothing, more than can be kept: clear answers, and nothing is lost."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import duckdb
import grpc  # type: ignore[import-untyped]
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_processor.store import spool
from otel_processor.store.database import Database
from tests.integration.processes import held
from tests.integration.service.serving import JSON, PROTOBUF, Serving, request_of, serving, serving_here
from tests.integration.service.test_answers import call
from tests.integration.stored import eventually, stored_ids

if TYPE_CHECKING:
    from pathlib import Path


def make(db: Path) -> None:
    with Database(db).write(timeout_seconds=5):
        pass


def delay_of(error: Any) -> float:
    """The delay that a gRPC refusal asks for."""
    found = dict(error.trailing_metadata())
    (detail,) = Status.FromString(found["grpc-status-details-bin"]).details
    delay = RetryInfo()
    assert detail.Unpack(delay)
    assert RetryInfo.FromString(found["google.rpc.retryinfo-bin"]) == delay
    return float(delay.retry_delay.seconds)


def test_while_somebody_holds_the_file_the_spool_takes_what_comes(db: Path) -> None:
    """Acknowledged is durable beside the database, and in it as soon as it is free, without anybody sending more."""
    make(db)
    with serving_here(db) as service:
        request, ids = request_of(5)
        with held(db):
            assert service.post(request.SerializeToString()).status == 200
            assert spool.pending(db)
            state = service.ask("GET", "/readyz")
            assert (state.status, "spool" in state.json["database"]) == (200, True)
        eventually(lambda: not spool.pending(db), seconds=30, what="the spool taken along")
        assert stored_ids(db) == sorted(ids)
        assert service.ask("GET", "/readyz").json == {"ready": True, "database": "written"}


def test_why_the_file_cannot_be_written_is_said(db: Path) -> None:
    """Spans go to the spool, and whoever looks at the service sees that, until the file is sound again."""
    make(db)
    with serving_here(db) as service:
        sound = db.with_name("sound")
        db.rename(sound)
        db.write_bytes(b"this is no database" * 1_000)
        request, ids = request_of(5)
        assert service.post(request.SerializeToString()).status == 200
        state = service.ask("GET", "/readyz")
        assert state.status == 200
        said = state.json["database"]
        assert said.startswith("cannot be written: ")
        assert said.endswith("; spans are kept in the spool beside it")
        assert str(db) in said
        sound.replace(db)
        eventually(lambda: not spool.pending(db), seconds=30, what="the spool taken along")
        assert service.ask("GET", "/readyz").json == {"ready": True, "database": "written"}
        assert stored_ids(db) == sorted(ids)


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("path", ["/v1/traces", "/v1/guard/turn"])
def test_whoever_closes_behind_a_body_that_is_too_large_reads_why(db: Path, path: str, framing: str) -> None:
    """It sends all of it first: a connection closed over unread bytes is reset, and the answer lost."""
    limits: dict[str, Any] = {"body_bytes": 1 << 20, "guard_body_bytes": 1 << 20}
    body = b"x" * (8 << 20)
    kind = PROTOBUF if path == "/v1/traces" else JSON
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {kind}\r\n".encode()
    if framing == "length":
        sent = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    else:
        sent = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
    with serving_here(db, **limits) as service, socket.create_connection(("127.0.0.1", service.http_port), 30) as sender:
        sender.sendall(sent)
        assert sender.recv(100).startswith(b"HTTP/1.1 413 ")


def test_what_finds_no_place_is_refused_with_a_delay(db: Path) -> None:
    """Neither database nor spool: 503 and UNAVAILABLE, not ready; sent again later it is stored, and nothing counts as lost."""
    make(db)
    with serving_here(db) as service:
        request, ids = request_of(5)
        body = request.SerializeToString()
        spool.folder_of(db).write_text("in the way of the spool")
        with held(db):
            answer = service.post(body)
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert Status.FromString(answer.body).code == 14
            with pytest.raises(grpc.RpcError) as caught:
                call(service, body)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            assert delay_of(caught.value) == 1
            assert service.ask("GET", "/readyz").status == 503
        spool.folder_of(db).unlink()
        assert service.post(body).status == 200
        assert service.ask("GET", "/readyz").status == 200
        assert stored_ids(db) == sorted(ids)
        counts = service.ask("GET", "/healthz").json["counts"]
        assert "spans_rejected" not in counts


def test_more_than_can_be_kept_is_refused_at_once(db: Path) -> None:
    """Those that wait are stored in the end; those beyond hear 429 and RESOURCE_EXHAUSTED while the others still wait."""
    make(db)
    with serving_here(db, patience_seconds=20, waiting_spans=10) as service, ThreadPoolExecutor(2) as pool:
        waiting, ids = request_of(8)
        more, _ = request_of(8)
        with held(db):
            answer = pool.submit(service.post, waiting.SerializeToString())
            eventually(lambda: service.ask("GET", "/healthz").json["counts"].get("spans") == 8, seconds=15, what="the first one")
            refused = eventually(lambda: _refused(service, more.SerializeToString()), seconds=15, what="a refusal")
            assert (refused.status, refused.headers["retry-after"]) == (429, "1")
            with pytest.raises(grpc.RpcError) as caught:
                call(service, more.SerializeToString())
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert delay_of(caught.value) == 1
            assert not answer.done()
        assert answer.result(30).status == 200
        assert set(ids) <= set(stored_ids(db))


def _refused(service: Serving, body: bytes) -> Any:
    # Only what comes while the other waits is refused; an empty database takes one request whatever its size.
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(service.post(body)), daemon=True)
    thread.start()
    thread.join(2)
    return answers[0] if answers and answers[0].status != 200 else None


def test_a_sender_that_gave_up_makes_no_room_for_more(db: Path) -> None:
    """What it sent still waits to be stored, and counts as waiting."""
    make(db)
    with serving_here(db, patience_seconds=20, waiting_spans=10) as service:
        first, ids = request_of(8)
        more, _ = request_of(8)
        with held(db):
            with pytest.raises(grpc.RpcError) as caught, grpc.insecure_channel(f"127.0.0.1:{service.grpc_port}") as channel:
                channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")(
                    first.SerializeToString(), timeout=1, wait_for_ready=True
                )
            assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            assert service.post(more.SerializeToString()).status == 429
        eventually(lambda: set(ids) <= set(stored_ids(db)), seconds=30, what="the spans of the sender that gave up")


def test_rows_that_the_database_refuses_cost_no_others(db: Path) -> None:
    """Of requests that were stored together only the one with such a row hears of it, and none is sent again for ever."""
    make(db)
    with duckdb.connect(db) as connection:
        connection.execute("alter table spans alter scope_version set not null")
    requests = [request_of(3) for _ in range(4)]
    for request, _ in requests:
        request.resource_spans[0].scope_spans[0].scope.version = "1"
    refused, ids = request_of(2)
    requests[2][0].resource_spans.add().CopyFrom(refused.resource_spans[0])
    with serving_here(db, patience_seconds=20) as service, ThreadPoolExecutor(4) as pool:
        with held(db):
            answers = [pool.submit(service.post, request.SerializeToString()) for request, _ in requests]
        told = [ExportTraceServiceResponse.FromString(answer.result(60).body).partial_success for answer in answers]
        assert {answer.result().status for answer in answers} == {200}
        assert [one.rejected_spans for one in told] == [0, 0, 2, 0]
        assert "does not take" in told[2].error_message
        assert stored_ids(db) == sorted(one for _, ids in requests for one in ids)
        assert not set(ids) & set(stored_ids(db))


def test_a_database_that_is_held_at_the_start_is_waited_for(db: Path) -> None:
    """The service is up, keeps what comes, and writes once it can."""
    make(db)
    request, ids = request_of(3)
    with ExitStack() as stack:
        with held(db):
            service = stack.enter_context(serving(db, env={"OTEL_PROCESSOR_BUSY_TIMEOUT": "0.3"}))
            assert service.post(request.SerializeToString()).status == 200
        eventually(lambda: not spool.pending(db), seconds=30, what="the spool taken along")
        assert stored_ids(db) == sorted(ids)
