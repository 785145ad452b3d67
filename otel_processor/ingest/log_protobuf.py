"""OTLP/protobuf requests of logs, the same records that `log_json` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_processor.errors import TelemetryFormatError
from otel_processor.ingest.log_span import agents_spans
from otel_processor.ingest.otlp_protobuf import SPAN_ID_BYTES, TRACE_ID_BYTES, any_value, attributes, hex_id, origin
from otel_processor.ingest.otlp_values import nanoseconds
from otel_processor.model import LogRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as Message

    from otel_processor.ingest.origin import Origin, Tally
    from otel_processor.model import SpanRecord


def logs_of_body(body: bytes, tally: Tally) -> Iterator[SpanRecord]:
    """Read one request, as it comes over the network.

    Raises:
        TelemetryFormatError: it is no ExportLogsServiceRequest.
    """
    try:
        request = ExportLogsServiceRequest.FromString(body)
    except DecodeError:
        raise TelemetryFormatError("the body is no ExportLogsServiceRequest in protobuf") from None
    return _logs_of_message(request, tally)


def _logs_of_message(request: ExportLogsServiceRequest, tally: Tally) -> Iterator[SpanRecord]:
    for resource_logs in request.resource_logs:
        for scope_logs in resource_logs.scope_logs:
            shared = origin(resource_logs, scope_logs)
            yield from agents_spans(scope_logs.log_records, _record, shared, tally)


def _record(message: Message, shared: Origin) -> LogRecord:
    return LogRecord(
        trace_id=hex_id(message.trace_id, TRACE_ID_BYTES),
        span_id=hex_id(message.span_id, SPAN_ID_BYTES),
        time_ns=nanoseconds(message.time_unix_nano) or 0,
        observed_ns=nanoseconds(message.observed_time_unix_nano) or 0,
        # Messages of the package may be older than this field.
        event_name=getattr(message, "event_name", ""),
        body=any_value(message.body),
        severity=int(message.severity_number),
        severity_text=message.severity_text,
        flags=message.flags,
        dropped_attributes=message.dropped_attributes_count,
        attributes=attributes(message.attributes),
        service=shared.service,
        scope=shared.scope,
        scope_version=shared.scope_version,
        resource=shared.resource,
        extra=shared.extra,
    )
