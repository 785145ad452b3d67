"""Spans between their start and their end, and what lies around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from otel_processor.dialects import read_span
from otel_processor.model import NOTHING, Reading, Role
from otel_processor.processor.sdk_span import SpanView
from otel_processor.runs.attempts import Tries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.trace import Span

    from otel_processor.guard.answer import Answer
    from otel_processor.model import Call

DEPTH = 128
"""Open spans above one that are looked at; deeper nesting is not an agent's."""


class EndedCall(NamedTuple):
    """What is remembered of a call, to tell whether another span tells it again."""

    role: Role
    tool: str | None
    call_id: str | None
    start_ns: int
    end_ns: int


@dataclass(slots=True)
class OpenSpan:
    """A span between its start and its end."""

    span: Span
    attributes: Mapping[str, Any]
    """The SDK's own mapping: it fills while the span is open."""
    parent: OpenSpan | None
    has_parent: bool
    """It has a parent, be it in another process."""
    handled: int = 0
    """The exception that was being handled when it began."""
    read_at: int = -1
    reading: Reading = NOTHING
    inside: list[EndedCall] | None = None
    """Calls that ended directly inside, with nothing but plain spans between: the span may tell one of them again."""
    tries: Tries | None = None
    """Attempts that HTTP requests inside made, with nothing but plain spans between."""
    refused: tuple[Call, Answer] | None = None
    """The call was asked about when the span started, and was not made."""

    def read(self) -> Reading:
        """Return what the span says so far; read again only when attributes came since."""
        size = len(self.attributes)
        if size != self.read_at:
            try:
                self.reading, self.read_at = read_span(SpanView(self.span)), size
            except Exception:  # noqa: BLE001 - another thread may be writing on the open span
                # What was read before holds until the next time.
                self.read_at = -1
        return self.reading

    def read_at_end(self) -> Reading:
        """Return what the span says now that it has ended; status, events or a value may have changed without a new attribute."""
        self.read_at = -1
        return self.read()


class Surroundings(NamedTuple):
    """What a span and the open spans above it say about where it belongs."""

    declared_run_id: str | None
    agent: str
    """The span's own agent, else the nearest above; empty when none is named."""
    task: str | None
    """Declared, else the outermost agent or workflow, else the root span's name."""
    task_type: str | None
    outermost: str
    """The outermost agent that is named; empty when none is."""


def surroundings_of(known: OpenSpan) -> Surroundings:
    """Look at a span and the open spans above it, nearest first."""
    run_id = declared_task = task_type = outermost = root_name = None
    agent = known.read().agent
    current: OpenSpan | None = known
    for _ in range(DEPTH):
        if current is None:
            break
        reading = current.read()
        if reading is NOTHING:
            root_name = current.span.name
        else:
            run_id = run_id or reading.run_id
            declared_task = declared_task or reading.task
            task_type = task_type or reading.task_type
            if reading.role.is_task_root and reading.agent:
                agent = agent or reading.agent
                outermost = reading.agent
        current = current.parent
    return Surroundings(run_id, agent or "", declared_task or outermost or agent or root_name, task_type, outermost or "")
