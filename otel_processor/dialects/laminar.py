"""Laminar: its decorator's spans, and the type that it adds to the spans of instrumentations.

Source: PyPI `lmnr` `opentelemetry_lib/tracing/attributes.py`, `opentelemetry_lib/opentelemetry/instrumentation`. Its
model spans write by the GenAI conventions, cached tokens included (`anthropic/__init__.py` adds them).
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table, content
from otel_processor.dialects.responses import read_response
from otel_processor.dialects.values import decode_structure, first_content, word
from otel_processor.model import Role, SpanFacts

_ROLES: Final = {"LLM": Role.MODEL, "TOOL": Role.TOOL}
_SURROUNDING: Final = frozenset({"DEFAULT", "PIPELINE", "EXECUTOR"})

_TABLE: Final = Table.of(words={"conversation_id": (names.LAMINAR_SESSION_ID, names.SESSION_ID)})


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    kind = word(attributes.get(names.LAMINAR_TYPE))
    if kind is None:
        return None
    if kind in _SURROUNDING:
        path = decode_structure(attributes.get(names.LAMINAR_PATH))
        return Role.WORKFLOW if isinstance(path, list | tuple) and len(path) == 1 else Role.OTHER
    return _ROLES.get(kind, Role.OTHER)


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLE.read(attributes)
    if role is Role.TOOL:
        found["tool"] = span.name
        found |= content(attributes, arguments=(names.LAMINAR_INPUT,), result=(names.LAMINAR_OUTPUT,))
    elif role is Role.MODEL:
        output = first_content(attributes, (names.OUTPUT_MESSAGES, names.LAMINAR_OUTPUT))
        found |= read_response(output).fields()
    return found


LAMINAR: Final = Dialect(
    name="laminar",
    markers=frozenset({names.LAMINAR_TYPE}),
    role=_role,
    fields=_fields,
)
