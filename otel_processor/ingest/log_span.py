"""One log record of whichever encoding: an agent's becomes a span, others are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from otel_processor.dialects.log_records import span_of_log
from otel_processor.errors import TelemetryFormatError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_processor.ingest.origin import Origin, Tally
    from otel_processor.model import LogRecord, SpanRecord

Message = TypeVar("Message")


def agents_spans(
    messages: Iterable[Message], read: Callable[[Message, Origin], LogRecord], shared: Origin, tally: Tally
) -> Iterator[SpanRecord]:
    """Return the spans that agents' records of one scope stand for; the others, and what cannot be read, are counted.

    Args:
        messages: the records in their encoding.
        read: makes a record of one.
        shared: what they have in common.
        tally: where they are counted.
    """
    for message in messages:
        try:
            span = span_of_log(read(message, shared))
        except (RecursionError, TelemetryFormatError):
            tally.skip_logs()
            continue
        if span is None:
            tally.other_logs += 1
        else:
            tally.logs += 1
            yield span
