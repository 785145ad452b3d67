"""Hand-made span records."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from otel_processor.model import SpanEvent, SpanRecord
from tests.integration.agents import tool_attributes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECOND = 1_000_000_000
START = 1_760_000_000 * SECOND

_numbers = itertools.count(1)


def record(
    attributes: Mapping[str, Any] | None = None,
    *,
    trace: str = "a" * 32,
    span: str | None = None,
    parent: str | None = None,
    at: int | None = None,
    end: int | None = None,
    name: str = "span",
    status: str = "UNSET",
    service: str = "shop",
    events: Sequence[SpanEvent] = (),
    remote: bool = False,
) -> SpanRecord:
    """A span; its times count on from record to record."""
    number = next(_numbers)
    start = START + number * SECOND if at is None else at
    return SpanRecord(
        trace_id=trace,
        span_id=span or f"{number:016x}",
        parent_span_id=parent,
        name=name,
        kind="INTERNAL",
        start_ns=start,
        end_ns=start + SECOND // 2 if end is None else end,
        status=status,
        status_message="",
        service=service,
        scope="test",
        scope_version="",
        attributes=attributes or {},
        events=events,
        resource={"service.name": service},
        links=(),
        parent_is_remote=remote,
    )


def tool_record(tool: str, arguments: Any = None, result: Any = None, **fields: Any) -> SpanRecord:
    """A tool call."""
    return record(tool_attributes(tool, arguments, result), **fields)
