"""What a writer of log records is: which events are its own, what each is in a run, and where a record of it belongs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.values import word
from otel_processor.model import Attributes, LogPart, Role, SpanFacts

if TYPE_CHECKING:
    from otel_processor.model import LogRecord

__all__ = ["Event", "LogWriter"]


def _any(_: Attributes) -> bool:
    return True


def _nothing(_: Attributes) -> Fields:
    return {}


def _whole(_: Attributes) -> int | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One kind of record."""

    part: LogPart
    role: Role = Role.OTHER
    fields: Callable[[Attributes], Fields] = _nothing
    """What it says, as a dialect's fields."""
    is_meant: Callable[[Attributes], bool] = _any
    """Whether a record of this name is one: some names stand for several kinds."""
    cut_at: Callable[[Attributes], int | None] = _whole
    """The length at which its writer cut a value, where it says that it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWriter:
    """A program that tells what its agent does in log records."""

    name: str
    """As the dialect of its spans is called."""
    prefix: str
    """Of the names of its events, with the dot."""
    scopes: frozenset[str]
    """Scopes, and services, in which names without the prefix are its own too."""
    events: Mapping[str, Event]
    """By their names without the prefix."""
    home: Callable[[Attributes, Attributes], str | None]
    """(attributes, the resource's) → what those have in common that make up one trace where they name none; None: nothing."""
    shared: Callable[[Attributes], Fields]
    """What every record of it says."""
    keeps_trace: bool = True
    """Whether a record belongs to the trace that it names, as what is above it there says whose it is."""

    def event_of(self, record: LogRecord) -> str | None:
        """Return the name of a record's event without the prefix, or None where it is not this writer's."""
        is_ours = record.scope in self.scopes or record.service in self.scopes
        told = (record.attributes.get(names.EVENT_NAME), record.event_name, record.body)
        found = None
        for candidate in told:
            name = word(candidate) if isinstance(candidate, str) else None
            if name is None:
                continue
            if name.startswith(self.prefix):
                found = name.removeprefix(self.prefix)
            elif is_ours and name in self.events:
                found = name
            if found is not None:
                return found
        return None

    def dialect(self) -> Dialect:
        """Return the dialect that reads the spans that were made of such records."""
        return Dialect(name=f"{self.name}_log", markers=frozenset({names.LOG_EVENT}), role=self._role, fields=self._fields)

    def _event(self, span: SpanFacts) -> Event | None:
        name = word(span.attributes.get(names.LOG_EVENT))
        return self.events.get(name.removeprefix(self.prefix)) if name is not None and name.startswith(self.prefix) else None

    def _role(self, span: SpanFacts) -> Role | None:
        event = self._event(span)
        return event.role if event is not None else None

    def _fields(self, span: SpanFacts, _: Role) -> Fields:
        event = self._event(span)
        if event is None:
            return {}
        found: dict[str, Any] = {"log": event.part}
        if event.part is LogPart.TRACED and span.attributes.get(names.LOG_TRACED) is not True:
            found["log"] = LogPart.NOTE
        elif event.part in {LogPart.CALL, LogPart.ANSWER}:
            found |= self.shared(span.attributes) | event.fields(span.attributes)
        return found
