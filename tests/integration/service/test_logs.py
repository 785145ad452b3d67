"""Log records over both doors: real loggers of the SDK, and every kind of request that is not as it should be."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]
import orjson
import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource

from tests.fuzz import texts, wire
from tests.fuzz.cases import spoilt_bytes
from tests.integration.service.serving import JSON, PROTOBUF, Serving, serving, serving_here
from tests.integration.stored import rows, value
from tests.made_logs import START, WRITERS, claude_code, codex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

METHOD = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
SPOILT = 60
LOOP = "loop_detected:repeated_tool_signature"
IDS = "7dfa8c1f919dc038d7f30112f8cfeaba"
"""Of the made records: a span's ids must stay what they are, or a redelivery after an update would count twice."""


@pytest.fixture
def service(db: Path) -> Iterator[Serving]:
    with serving_here(db) as found:
        yield found


def as_protobuf(request: dict[str, Any]) -> bytes:
    """The same request, field by field: the ids of OTLP/JSON are hex."""
    made = ExportLogsServiceRequest()
    for resource_logs in request["resourceLogs"]:
        resource = made.resource_logs.add()
        _fill(resource.resource.attributes, resource_logs["resource"]["attributes"])
        for scope_logs in resource_logs["scopeLogs"]:
            scope = resource.scope_logs.add()
            scope.scope.name = scope_logs["scope"]["name"]
            for record in scope_logs["logRecords"]:
                message = scope.log_records.add(
                    time_unix_nano=int(record.get("timeUnixNano", 0)),
                    observed_time_unix_nano=int(record.get("observedTimeUnixNano", 0)),
                    event_name=record.get("eventName", ""),
                    trace_id=bytes.fromhex(record.get("traceId", "")),
                    span_id=bytes.fromhex(record.get("spanId", "")),
                )
                if "body" in record:
                    message.body.string_value = record["body"]["stringValue"]
                _fill(message.attributes, record["attributes"])
    return bytes(made.SerializeToString())


def _fill(target: Any, attributes: list[dict[str, Any]]) -> None:
    for pair in attributes:
        ParseDict(pair["value"], target.add(key=pair["key"]).value)


def call(service: Serving, body: bytes) -> bytes:
    with grpc.insecure_channel(f"127.0.0.1:{service.grpc_port}") as channel:
        answer: bytes = channel.unary_unary(METHOD)(body, timeout=30)
        return answer


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_the_loggers_of_the_sdk(db: Path, door: str) -> None:
    """An agent that only logs is in the database, as a run that loops, when its flush returns."""
    with serving(db) as service:
        exporter = (
            GrpcExporter(endpoint=f"http://127.0.0.1:{service.grpc_port}", insecure=True)
            if door == "grpc"
            else HttpExporter(endpoint=f"http://127.0.0.1:{service.http_port}/v1/logs")
        )
        provider = LoggerProvider(resource=Resource.create({"service.name": "codex_exec"}))
        provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        logger = provider.get_logger("codex_otel.log_only")
        for number in range(4):
            at = START + number * 2_000_000_000
            told = {"conversation.id": "c-1", "tool_name": "exec_command", "call_id": f"call_{number}", "duration_ms": "100"}
            said = {"arguments": '{"cmd": "make"}', "output": f"Chunk ID: {number}\nWall time: {number} s\nnothing to do"}
            logger.emit(
                LogRecord(
                    timestamp=at if door == "grpc" else None,
                    observed_timestamp=at,
                    event_name="event otel/src/events.rs:12",
                    severity_number=SeverityNumber.INFO,
                    attributes={"event.name": "codex.tool_result"} | told | said,
                )
            )
            logger.emit(LogRecord(timestamp=at, body="flushing", attributes={"conversation.id": "c-1"}))
        assert provider.force_flush()
        assert rows(db, "select task, tool_calls, flagged_reason from runs") == [("codex", 4, LOOP)]
        counts = service.ask("GET", "/healthz").json["counts"]
        assert (counts["log_records"], counts["log_records_left_alone"], counts["logs_taken"]) == (4, 4, 8)
        provider.shutdown()


@pytest.mark.parametrize("door", [JSON, PROTOBUF, "grpc"])
def test_what_is_acknowledged_is_stored_and_counts_once(service: Serving, db: Path, door: str) -> None:
    """The same request, in every encoding, gives the same rows."""
    session = claude_code(traced=False)
    body = orjson.dumps(session.logs_request()) if door == JSON else as_protobuf(session.logs_request())
    for _ in range(2):
        if door == "grpc":
            assert call(service, body) == b""
        else:
            answer = service.post(body, door, "/v1/logs")
            assert (answer.status, answer.body) == (200, b"{}" if door == JSON else b"")
        assert rows(db, "select run_id, tool_calls, model_calls, round(cost_usd, 6), flagged_reason from runs") == [
            ("p-1", 4, 5, 0.006, LOOP)
        ]
    assert value(db, "select count(*) from spans") == len(session.records)
    assert value(db, "select md5(string_agg(span_id || start_unix_nano, ',' order by span_id)) from spans") == IDS


def test_records_that_cannot_be_placed_are_named_and_the_others_kept(service: Serving, db: Path) -> None:
    """A partial success: the sender must not send it again."""
    records = codex(traced=False).records
    result = next(record for record in records if record["attributes"][0]["value"]["stringValue"] == "codex.tool_result")
    timeless = {**result, "observedTimeUnixNano": "0", "attributes": result["attributes"][:1]}
    request = codex(traced=False).logs_request([*records, timeless])
    request["resourceLogs"][0]["scopeLogs"][0]["logRecords"].append(7)
    answer = service.post(orjson.dumps(request), JSON, "/v1/logs")
    assert answer.status == 200
    assert answer.json["partialSuccess"] == {
        "rejectedLogRecords": "2",
        "errorMessage": "left out: 2 that are no log records, or have no time",
    }
    made = codex(traced=False).logs_request([timeless])
    said = ExportLogsServiceResponse.FromString(call(service, as_protobuf(made)))
    assert said.partial_success.rejected_log_records == 1
    assert rows(db, "select tool_calls, model_calls from runs") == [(4, 5)]


@pytest.mark.parametrize(
    ("kind", "body"),
    [(JSON, b"{"), (JSON, b"[]"), (JSON, b'{"resourceLogs": 5}'), (PROTOBUF, b"\xff\xff\xff"), (PROTOBUF, b"no")],
)
def test_a_spoilt_body_is_the_senders_fault(service: Serving, kind: str, body: bytes) -> None:
    """4xx, and not sent again."""
    assert service.post(body, kind, "/v1/logs").status == 400


def test_a_spoilt_call_is_the_senders_fault(service: Serving) -> None:
    """The same over gRPC."""
    with pytest.raises(grpc.RpcError) as refused:
        call(service, b"\xff\xff\xff")
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_records_of_others_are_taken_counted_and_left_alone(service: Serving, db: Path) -> None:
    """An application's log is no agent's: a request without an agent's record stores nothing."""
    request = ExportLogsServiceRequest()
    message = request.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=START)
    message.body.string_value = "GET /index.html"
    assert service.post(request.SerializeToString(), PROTOBUF, "/v1/logs").status == 200
    assert service.post(orjson.dumps(MessageToDict(request)), JSON, "/v1/logs").status == 200
    assert call(service, request.SerializeToString()) == b""
    assert service.ask("GET", "/healthz").json["counts"]["log_records_left_alone"] == 3
    assert value(db, "select count(*) from spans") == 0


def test_no_spoilt_record_is_our_fault(db: Path, caplog: Any) -> None:
    """Bits turned and values of other types: 200 or a 4xx, no bug in the log, and sound records are stored after."""
    chance = random.Random(11)
    answers = set()
    with serving_here(db) as service:
        for number in range(SPOILT):
            session = WRITERS[chance.choice(sorted(WRITERS))](traced=bool(number % 2))
            records = chance.sample(session.records, 4)
            request = session.logs_request(records)
            match number % 3:
                case 0:
                    body, kind = wire.spoilt(chance, as_protobuf(request)), PROTOBUF
                case 1:
                    body, kind = spoilt_bytes(chance, orjson.dumps(request)), JSON
                case _:
                    body, kind = texts.spoilt(chance, request), JSON
            answers.add(service.post(body, kind, "/v1/logs").status)
        assert answers <= {200, 400}
        sound = claude_code(traced=False, prompt="sound").logs_request()
        assert service.post(as_protobuf(sound), PROTOBUF, "/v1/logs").status == 200
        assert rows(db, "select tool_calls, model_calls from runs where run_id = 'sound'") == [(4, 5)]
    assert [record for record in caplog.records if record.exc_info] == []
