"""OTLP/JSON requests of logs: an agent's records as spans, others left alone, what is malformed counted and skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_processor.ingest.log_span import agents_spans
from otel_processor.ingest.otlp_request import messages, origin, text
from otel_processor.ingest.otlp_values import any_value, attributes_of, field, hex_id, nanoseconds, whole_number
from otel_processor.model import LogRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from otel_processor.ingest.origin import Origin, Tally
    from otel_processor.model import SpanRecord

LISTS: Final = ("resourceLogs", "resource_logs")


def logs_of_request(request: Mapping[str, Any], tally: Tally) -> Iterator[SpanRecord]:
    """The records of agents in one ExportLogsServiceRequest."""
    for resource_logs in messages(field(request, *LISTS), tally.skip_logs):
        for scope_logs in messages(field(resource_logs, "scopeLogs", "scope_logs"), tally.skip_logs):
            records = field(scope_logs, "logRecords", "log_records")
            try:
                shared = origin(resource_logs, scope_logs)
            except RecursionError:
                tally.skip_logs(len(records) if isinstance(records, list) else 1)
                continue
            yield from agents_spans(messages(records, tally.skip_logs), _record, shared, tally)


def _record(message: Mapping[str, Any], shared: Origin) -> LogRecord:
    return LogRecord(
        trace_id=hex_id(field(message, "traceId", "trace_id"), 16),
        span_id=hex_id(field(message, "spanId", "span_id"), 8),
        time_ns=nanoseconds(field(message, "timeUnixNano", "time_unix_nano")) or 0,
        observed_ns=nanoseconds(field(message, "observedTimeUnixNano", "observed_time_unix_nano")) or 0,
        event_name=text(field(message, "eventName", "event_name")),
        body=any_value(message.get("body")),
        severity=whole_number(field(message, "severityNumber", "severity_number")),
        severity_text=text(field(message, "severityText", "severity_text")),
        flags=whole_number(message.get("flags")),
        dropped_attributes=whole_number(field(message, "droppedAttributesCount", "dropped_attributes_count")),
        attributes=attributes_of(message.get("attributes")),
        service=shared.service,
        scope=shared.scope,
        scope_version=shared.scope_version,
        resource=shared.resource,
        extra=shared.extra,
    )
