"""Log records of agents as spans, so that one reading, one store and one definition of a loop hold for both.

A record is told by its event's name: the attribute `event.name`, the field of the record, or its body. The span's ids are
hashes of what the record says, so that one that is sent again is the same span.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.claude_code_log import CLAUDE_CODE_LOG
from otel_processor.dialects.codex_log import CODEX_LOG
from otel_processor.dialects.gemini_cli_log import GEMINI_CLI_LOG, QWEN_CODE_LOG
from otel_processor.dialects.values import amount, word
from otel_processor.errors import TelemetryFormatError
from otel_processor.model import LogPart, SpanRecord

if TYPE_CHECKING:
    from otel_processor.dialects.log_writer import Event, LogWriter
    from otel_processor.model import LogRecord

WRITERS: Final[tuple[LogWriter, ...]] = (CLAUDE_CODE_LOG, CODEX_LOG, GEMINI_CLI_LOG, QWEN_CODE_LOG)

TELLING_DIALECTS: Final = frozenset(name for writer in WRITERS for name in (writer.name, writer.dialect().name))
"""Those whose calls both spans and log records may tell."""

RECEIVED: Final = "otel_processor.log"
"""Name under which the span's `extra` keeps what the record says beside its attributes."""

_OURS: Final = frozenset({names.LOG_EVENT, names.LOG_APART, names.LOG_TRACED})

_MAX_NS: Final = 2**63 - 1
_LONGEST_MS: Final = 86_400_000
"""What says that it took longer than a day is taken for a mistake."""

_ONE_SECOND: Final = 1_000_000_000


def span_of_log(record: LogRecord) -> SpanRecord | None:
    """Return an agent's record as a span, or None where it is somebody else's, or tells nothing that is looked at.

    Raises:
        TelemetryFormatError: it is an agent's and has no time at all.
    """
    found = _find(record)
    if found is None:
        return None
    writer, name, event = found
    end_ns = _time(record)
    if not end_ns:
        raise TelemetryFormatError("a log record without a time")
    lasted = amount(record.attributes.get(names.DURATION_MS)) or 0.0
    if lasted > _LONGEST_MS:
        lasted = 0.0
    digest = _digest(record, writer.prefix + name, end_ns)
    trace_id, apart = _trace(record, writer, event, digest)
    return SpanRecord(
        trace_id=trace_id,
        span_id=digest[:16],
        parent_span_id=None if apart else record.span_id,
        name=writer.prefix + name,
        kind="INTERNAL",
        start_ns=max(end_ns - int(lasted * 1e6), 1),
        end_ns=end_ns,
        status="UNSET",
        status_message="",
        service=record.service,
        scope=record.scope,
        scope_version=record.scope_version,
        attributes=_attributes(record, writer.prefix + name, apart=apart),
        events=(),
        resource=record.resource,
        links=(),
        extra=_extra(record, event),
    )


def _find(record: LogRecord) -> tuple[LogWriter, str, Event] | None:
    for writer in WRITERS:
        name = writer.event_of(record)
        if name is not None:
            event = writer.events.get(name)
            return (writer, name, event) if event is not None and event.is_meant(record.attributes) else None
    return None


def _time(record: LogRecord) -> int:
    """When it happened: the record's time, else the writer's own word, made exact by when the record was first seen."""
    if record.time_ns:
        return record.time_ns
    written = _parsed(record.attributes.get(names.EVENT_TIMESTAMP))
    if written and not 0 <= record.observed_ns - written < _ONE_SECOND:
        return written
    return record.observed_ns


def _parsed(text: Any) -> int:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
        return 0 if moment is None or moment.tzinfo is None else min(max(round(moment.timestamp() * 1e6) * 1_000, 0), _MAX_NS)
    except (ValueError, OverflowError):
        return 0


def _attributes(record: LogRecord, name: str, *, apart: bool) -> dict[str, Any]:
    """Return what the record says, the session that its resource names, and what it is."""
    told = {key: value for key, value in record.attributes.items() if key not in _OURS}
    session = word(record.resource.get(names.SESSION_ID))
    if session is not None:
        told.setdefault(names.SESSION_ID, session)
    told[names.LOG_EVENT] = name
    if apart:
        told[names.LOG_APART] = True
        if record.trace_id is not None:
            told[names.LOG_TRACED] = True
    return told


def _digest(record: LogRecord, name: str, end_ns: int) -> str:
    said = json.dumps(
        [name, end_ns, record.trace_id, record.span_id, record.service, dict(record.attributes)], sort_keys=True, default=repr
    )
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _trace(record: LogRecord, writer: LogWriter, event: Event, digest: str) -> tuple[str, bool]:
    """Return the trace that it belongs to, and whether that was made up for it."""
    if writer.keeps_trace and event.part is not LogPart.TRACED and record.trace_id is not None and record.span_id is not None:
        return record.trace_id, False
    home = writer.home(record.attributes, record.resource)
    shared = digest if home is None else hashlib.sha256(f"{writer.name} {home}".encode("utf-8", "surrogatepass")).hexdigest()
    return shared[-32:], True


def _extra(record: LogRecord, event: Event) -> dict[str, Any]:
    received = {
        "event_name": record.event_name,
        "body": record.body,
        "severity_number": record.severity,
        "severity_text": record.severity_text,
        "time_unix_nano": record.time_ns,
        "observed_time_unix_nano": record.observed_ns,
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "flags": record.flags,
        "dropped_attributes_count": record.dropped_attributes,
    }
    extra = {**record.extra, RECEIVED: {name: value for name, value in received.items() if value}}
    limit = event.cut_at(record.attributes)
    return extra if limit is None else {**extra, names.VALUE_LIMIT: limit}
