"""The three signals of OTLP: what their requests are read by, and how each says that a part was not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_processor.ingest import log_protobuf, otlp_json, otlp_protobuf

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from otel_processor.service.intake import Reader, Taken

PROTOBUF, JSON = "application/x-protobuf", "application/json"

READERS: Final[dict[str, dict[str, Reader]]] = {
    "traces": {PROTOBUF: otlp_protobuf.spans_of_body, JSON: otlp_json.spans_of_body},
    "logs": {PROTOBUF: log_protobuf.logs_of_body, JSON: otlp_json.logs_of_body},
}
"""Signal → content type → reader. What is not among them is taken and left alone."""


def answer_of(signal: str, taken: Taken) -> Message:
    """Return the answer to a request that was taken."""
    if signal == "logs":
        logs = ExportLogsServiceResponse()
        if taken.rejected:
            logs.partial_success.rejected_log_records = taken.rejected
            logs.partial_success.error_message = taken.message
        return logs
    if signal == "metrics":
        return ExportMetricsServiceResponse()
    traces = ExportTraceServiceResponse()
    if taken.rejected:
        traces.partial_success.rejected_spans = taken.rejected
        traces.partial_success.error_message = taken.message
    return traces
