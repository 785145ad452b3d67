"""Spans without what is not to be stored: without their secrets, or without all that people, models and tools said.

Long values are looked at as far as they are stored, and a stretch beyond, so that a secret which lies across the end is whole.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from otel_processor.model import SpanEvent, SpanRecord
from otel_processor.privacy.redactor import Redactor
from otel_processor.privacy.structure import as_id, as_name, attributes_of, withheld
from otel_processor.recording.bounds import MAX_VALUE_CHARS, Cuts, json_text, plain_json

BEYOND_CHARS = 8_192
"""Characters looked at beyond those that are stored; no form of a secret is longer."""

_MOST_BYTES = 4 * (MAX_VALUE_CHARS + BEYOND_CHARS + 1)
"""Bytes looked at of one value: of a longer one they are more characters than are looked at of a text."""

_DEPTH = 64

_NAME_CHARS = 1_024
_MESSAGE_CHARS = 16_384
_KEY_CHARS = 300


def redacted(span: SpanRecord, redactor: Redactor) -> tuple[SpanRecord, Cuts] | None:
    """Return a span without its secrets, and where they were; None where it has none."""
    notes: Cuts = {}

    def text(value: str, where: str, limit: int) -> str:
        found = Counter[str]()
        cleaned = _text(value, limit, redactor, found)
        _note(notes, where, found)
        return cleaned

    changes: dict[str, Any] = {
        "name": text(span.name, "name", _NAME_CHARS),
        "status_message": text(span.status_message, "status_message", _MESSAGE_CHARS),
        "service": text(span.service, "service", _NAME_CHARS),
        "scope": text(span.scope, "scope", _NAME_CHARS),
        "scope_version": text(span.scope_version, "scope_version", _NAME_CHARS),
        "trace_state": text(span.trace_state, "trace_state", _NAME_CHARS),
        "attributes": _mapping(span.attributes, "attributes", redactor, notes),
        "resource": _mapping(span.resource, "resource", redactor, notes),
        "extra": _mapping(span.extra, "extra", redactor, notes),
        "links": [_mapping(link, f"links.{index}", redactor, notes) for index, link in enumerate(span.links)],
        "events": [
            replace(
                event,
                name=text(event.name, f"events.{index}", _NAME_CHARS),
                attributes=_mapping(event.attributes, f"events.{index}", redactor, notes),
            )
            for index, event in enumerate(span.events)
        ],
    }
    return (replace(span, **changes), notes) if notes else None


def without_content(span: SpanRecord) -> SpanRecord:
    """Return a span with what is structure, and stand-ins for everything else."""
    return replace(
        span,
        name=as_name(span.name),
        status_message=withheld(span.status_message) if span.status_message else "",
        service=as_name(span.service),
        scope=as_name(span.scope),
        scope_version=as_id(span.scope_version),
        trace_state=withheld(span.trace_state) if span.trace_state else "",
        attributes=attributes_of(span.attributes, json_text),
        events=[_event_without_content(event) for event in span.events],
        resource=attributes_of(span.resource, json_text),
        links=[_link_without_content(link) for link in span.links],
        extra=_extra_without_content(span.extra),
    )


def _event_without_content(event: SpanEvent) -> SpanEvent:
    return replace(event, name=as_id(event.name), attributes=attributes_of(event.attributes or {}, json_text))


def _link_without_content(link: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in link.items() if name != "attributes"}
    inner = link.get("attributes")
    return attributes_of(plain, json_text) | {"attributes": attributes_of(inner if isinstance(inner, Mapping) else {}, json_text)}


def _extra_without_content(extra: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in extra.items():
        if isinstance(value, bool | int | float):
            kept[name] = value
        elif name.endswith("schema_url") and isinstance(value, str):
            kept[name] = as_id(value)
        elif name == "scope_attributes" and isinstance(value, Mapping):
            kept[name] = attributes_of(value, json_text)
        else:
            kept[name] = withheld(value if isinstance(value, str) else json_text(value))
    return kept


def _mapping(values: Mapping[str, Any], where: str, redactor: Redactor, notes: Cuts) -> Mapping[str, Any]:
    cleaned: dict[str, Any] = {}
    changed = False
    for key, value in values.items():
        name = key if isinstance(key, str) else str(key)
        found = Counter[str]()
        new_name = _text(name, MAX_VALUE_CHARS, redactor, found)
        new_value = redacted_value(value, name, redactor, found)
        if found:
            changed = True
            path = f"{where}.{new_name}"[:_KEY_CHARS]
            _note(notes, path, found)
            text = _whole_text(value)
            if len(text) > MAX_VALUE_CHARS or (isinstance(new_value, str) and len(new_value) == MAX_VALUE_CHARS):
                told = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
                notes[path] |= {"length": len(text), "sha256": told}
        cleaned[new_name] = new_value
    return cleaned if changed else values


def redacted_value(value: Any, name: str, redactor: Redactor, found: Counter[str]) -> Any:
    """Return a value, of any length, without the secrets in the part of it that is stored.

    Args:
        value: of an attribute, or of a tool's result.
        name: that it stands under.
        redactor: knows what to look for.
        found: counts it.
    """
    if isinstance(value, str):
        return _redacted_text(value, name, redactor, found)
    if isinstance(value, bytes):
        inside = Counter[str]()
        cleaned = redacted_value(legible(value), name, redactor, inside)
        found.update(inside)
        return cleaned if inside else value
    if isinstance(value, Mapping | list | tuple):
        text = json_text(value)
        if len(text) > MAX_VALUE_CHARS:
            if plain_json(value) is None:
                text = json_text(_with_legible(value, redactor))
            cleaned = _text(text, MAX_VALUE_CHARS, redactor, found)
            return cleaned if found else value
    return redactor.value(value, found, name)


def _redacted_text(text: str, name: str, redactor: Redactor, found: Counter[str]) -> str:
    """Return a text without its secrets; what stands in their place may be longer than they were, and is cut with the rest."""
    if len(text) <= MAX_VALUE_CHARS:
        before = found.total()
        cleaned = str(redactor.value(text, found, name))
        return text if found.total() == before else cleaned[:MAX_VALUE_CHARS]
    inside = Counter[str]()
    cleaned = _text(text, MAX_VALUE_CHARS, redactor, inside)
    if not inside:
        by_name = str(redactor.value(text[:MAX_VALUE_CHARS], inside, name))
        cleaned = by_name if inside else text
    found.update(inside)
    return cleaned


def legible(blob: bytes) -> str:
    """Return the text that bytes are, as far as it is looked at; what is no UTF-8 becomes signs that are no part of a secret."""
    return blob[:_MOST_BYTES].decode("utf-8", "replace")


def _with_legible(value: Any, redactor: Redactor, depth: int = _DEPTH) -> Any:
    """Return a value with texts in place of those bytes that may hold a secret; what lies very deep as one text."""
    if isinstance(value, bytes):
        text = legible(value)
        return text if redactor.suspects(text) else value
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth <= 0:
        return str(value)
    if isinstance(value, Mapping):
        return {key: _with_legible(inner, redactor, depth - 1) for key, inner in value.items()}
    return [_with_legible(inner, redactor, depth - 1) for inner in value]


def _whole_text(value: Any) -> str:
    """Return the text of a value, of which a part may be stored; of a number none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json_text(value) if isinstance(value, Mapping | Sequence) else ""


def _text(text: str, limit: int, redactor: Redactor, found: Counter[str]) -> str:
    """Return a text without the secrets in the part of it that is stored; longer than that where it has none and is cut later."""
    if len(text) <= limit:
        return redactor.text(text, found)
    looked_at = text[: limit + BEYOND_CHARS]
    before = found.total()
    cleaned = redactor.text(looked_at, found)
    if found.total() == before:
        return text
    # What is shorter than the text was moves up: never what may be the beginning of a secret that was not seen whole.
    return cleaned[: max(len(cleaned) - BEYOND_CHARS, 0)][:limit] if len(text) > len(looked_at) else cleaned[:limit]


def _note(notes: Cuts, where: str, found: Counter[str]) -> None:
    if found:
        note = notes.setdefault(where, {})
        note["redacted"] = dict(Counter(note.get("redacted", {})) + found)
