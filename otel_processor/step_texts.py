"""What a model said in a call, read again from its stored span: pages show it, and no table holds it a second time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from otel_processor.dialects import read_span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from otel_processor.model import RequestedCall

MAX_REQUESTED = 50


@dataclass(frozen=True, slots=True)
class ModelSaid:
    """The answer of a model call. None: its span does not say."""

    text: str | None
    reasoning: str | None
    requested: tuple[RequestedCall, ...]
    """The tool calls that it asked for."""

    def __bool__(self) -> bool:
        return bool(self.text or self.reasoning or self.requested)


@dataclass(frozen=True, slots=True)
class _StoredEvent:
    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _StoredSpan:
    """The part of a row of `spans` that dialects read."""

    name: str
    scope: str
    attributes: Mapping[str, Any]
    events: Sequence[_StoredEvent]
    status: str
    status_message: str


def model_said(
    *, name: str, scope: str, attributes: str | None, events: str | None, status: str = "UNSET", status_message: str = ""
) -> ModelSaid:
    """Return what a model said according to one row of `spans`; never raises, whatever the row holds.

    Args:
        name: of the span.
        scope: the name of its instrumentation scope.
        attributes: its attributes, as JSON text.
        events: its events, as JSON text.
        status: `UNSET`, `OK` or `ERROR`.
        status_message: the status description.
    """
    reading = read_span(_StoredSpan(name, scope, _mapping(_parsed(attributes)), _events(_parsed(events)), status, status_message))
    return ModelSaid(reading.text, reading.reasoning, reading.requested[:MAX_REQUESTED])


def _events(value: Any) -> list[_StoredEvent]:
    told = value if isinstance(value, list) else []
    return [
        _StoredEvent(str(event["name"]), _mapping(event.get("attributes")))
        for event in told
        if isinstance(event, dict) and "name" in event
    ]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _parsed(text: str | None) -> Any:
    try:
        return orjson.loads(text) if text else None
    except ValueError:
        return None
