"""Files of OTLP/JSON: one request, one request per line as the Collector's file exporter writes, or an array of them.

Lines are read one at a time, so that a file may be larger than memory.
"""

from __future__ import annotations

import gzip
import json
import zlib
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

import orjson

from otel_processor.errors import TelemetryFormatError
from otel_processor.ingest import log_json
from otel_processor.ingest.origin import Tally
from otel_processor.ingest.otlp_request import spans_of_request
from otel_processor.ingest.otlp_values import field
from otel_processor.model import SpanRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Batch", "Tally", "logs_of_body", "spans_of_body", "spans_of_file", "spans_of_request"]

_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_UNREADABLE: Final = object()
_SPANS: Final = ("resourceSpans", "resource_spans")
_OTHER_SIGNALS: Final = (
    ("resourceMetrics", "resource_metrics"),
    ("resourceProfiles", "resource_profiles"),
)

Batch = tuple[list[SpanRecord], int]
"""The spans of one request, also those that log records stand for, and the bytes of the file that were consumed so far."""


def spans_of_file(path: str | Path, tally: Tally | None = None) -> Iterator[Batch]:
    """Read a file of OTLP/JSON, also gzipped, request by request.

    Raises `TelemetryFormatError` when nothing in it is OTLP traces or logs, and `OSError` when it cannot be opened.
    """
    path = Path(path)
    tally = Tally() if tally is None else tally
    found = False
    with path.open("rb") as raw:
        for request, consumed in _requests(raw, tally):
            found = True
            yield [*spans_of_request(request, tally), *log_json.logs_of_request(request, tally)], consumed
    if not found:
        raise TelemetryFormatError(
            f"{path}: no OTLP trace data in it; expected OTLP/JSON with `resourceSpans`, or `resourceLogs` of an agent"
        )


def spans_of_body(body: bytes, tally: Tally) -> Iterator[SpanRecord]:
    """Read one request, as it comes over the network.

    Raises:
        TelemetryFormatError: it is no ExportTraceServiceRequest in JSON.
    """
    return spans_of_request(_request(body, _SPANS, "ExportTraceServiceRequest"), tally)


def logs_of_body(body: bytes, tally: Tally) -> Iterator[SpanRecord]:
    """Read one request of logs, as it comes over the network.

    Raises:
        TelemetryFormatError: it is no ExportLogsServiceRequest in JSON.
    """
    return log_json.logs_of_request(_request(body, log_json.LISTS, "ExportLogsServiceRequest"), tally)


def _request(body: bytes, lists: tuple[str, str], name: str) -> Mapping[str, Any]:
    request = _parse(body)
    if not isinstance(request, dict):
        raise TelemetryFormatError(f"the body is no JSON object; send an {name}")
    found = field(request, *lists)
    if found is not None and not isinstance(found, list):
        raise TelemetryFormatError(f"`{lists[0]}` is no list")
    return request


def _requests(raw: IO[bytes], tally: Tally) -> Iterator[tuple[Mapping[str, Any], int]]:
    """The requests of an open file that hold traces or logs."""
    zipped = raw.read(len(_GZIP)) == _GZIP
    raw.seek(0)
    # Progress counts bytes on disk, which is what the size of the file says too.
    with cast("IO[bytes]", gzip.open(raw)) if zipped else raw as content:
        try:
            for value in _values(content):
                yield from ((request, raw.tell()) for request in _readable_requests(value, tally))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            tally.malformed_requests += 1


def _values(content: IO[bytes]) -> Iterator[Any]:
    """The JSON values of a file: one for each line, or one for the whole file when a line alone is no JSON."""
    lines = (line for line in content if line.strip())
    first = next(lines, b"").removeprefix(_BOM)
    value = _parse(first)
    if value is not _UNREADABLE:
        yield value
        yield from map(_parse, lines)
        return
    second = next(lines, b"")
    if second and _parse(second) is not _UNREADABLE:
        yield from map(_parse, chain((first, second), lines))
        return
    yield _parse(b"".join((first, second, *lines)))


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    try:
        # NaN and numbers over 64 bits are no JSON to orjson, but do occur.
        return json.loads(text)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _readable_requests(value: Any, tally: Tally) -> Iterator[Mapping[str, Any]]:
    for request in value if isinstance(value, list) else (value,):
        if not isinstance(request, dict):
            tally.malformed_requests += 1
        elif any(isinstance(field(request, *names), list) for names in (_SPANS, log_json.LISTS)):
            yield request
        elif any(field(request, *names) is not None for names in _OTHER_SIGNALS):
            tally.other_signals += 1
        elif request:
            tally.malformed_requests += 1
