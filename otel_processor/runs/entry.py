"""A call's span on its way into the ledger's run, or one that tells of calls."""

from __future__ import annotations

from dataclasses import dataclass, replace

from otel_processor.model import Role, Told
from otel_processor.runs.attempts import Tries
from otel_processor.runs.records import ReadSpan, RecordedCall
from otel_processor.runs.trace_tree import Node

Key = tuple[str, str]
"""(trace id, span id)"""


@dataclass(slots=True, eq=False)
class Entry:
    """A span that is folded into a run, in the run's order."""

    item: ReadSpan
    """What it says itself, together with other spans of the same call and with what spans that are no call tell of it."""
    node: Node
    told: tuple[Told, ...] | None = None
    """What it tells of other spans' calls; None: nobody asked it yet."""
    heard: ReadSpan | None = None
    """The item with what models told of it."""
    recorded: RecordedCall | None = None
    tries: Tries | None = None
    """Attempts that HTTP requests inside made."""
    has_twin: bool = False
    """A log record tells the same call as this span, or the other way round."""
    declared: str | None = None
    """The run that the user declared for it, where that is not the trace's own."""

    @property
    def key(self) -> Key:
        """What the call's row is found by."""
        return (self.item.span.trace_id, self.item.span.span_id)

    @property
    def is_call(self) -> bool:
        """Whether it is a row of `calls`; else it only tells of others."""
        return self.item.reading.role.is_call

    @property
    def lacks_result(self) -> bool:
        """Whether it is a tool call and nobody said what it brought back."""
        return lacks_result(self.heard or self.item)

    def lean(self) -> Entry:
        """Return the entry without its span's content: what that says was read."""
        span = replace(self.item.span, attributes={}, events=(), resource={}, links=(), extra={})
        return replace(self, item=replace(self.item, span=span, others=()), heard=None)


def lacks_result(item: ReadSpan) -> bool:
    """Whether a tool call's outcome is not known: neither what it brought back nor why it failed."""
    reading = item.reading
    return reading.role is Role.TOOL and reading.result is None and not (reading.is_error and reading.error_message)
