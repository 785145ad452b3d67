"""Logfire's own instrumentations, where they do not write by the GenAI conventions: OpenAI Agents.

Source: PyPI logfire `logfire/_internal/integrations/openai_agents.py`. A span's name is a template with the braces left
in; what fills them stands in attributes without a prefix.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.responses import object_in, read_response
from otel_processor.dialects.told import told_in_messages
from otel_processor.dialects.values import count, decode_structure, first_content
from otel_processor.model import Role, SpanFacts, Told

_ROLES: Final = {
    "OpenAI Agents trace: {name}": Role.WORKFLOW,
    "Agent run: {name!r}": Role.AGENT,
    "Function: {name}": Role.TOOL,
}
_STEPS: Final = ("Task: ", "Turn {turn} ", "Handoff: ", "Guardrail ", "Custom span: ")
_INPUT: Final = "input"
_OUTPUT: Final = "output"
_RESPONSE: Final = "response"
_NAME: Final = "name"

_TABLES: Final = {
    Role.TOOL: Table.of(words={"tool": (_NAME,)}),
    Role.AGENT: Table.of(words={"agent": (_NAME,)}),
    Role.WORKFLOW: Table.of(words={"agent": (_NAME,), "conversation_id": (names.LOGFIRE_GROUP_ID,)}),
}


def _role(span: SpanFacts) -> Role | None:
    if span.name.startswith(_STEPS):
        return Role.OTHER
    # A model's request names its operation.
    return _ROLES.get(span.name)


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    if role is Role.MODEL:
        response = object_in(attributes.get(_RESPONSE))
        found = read_response(response).fields() if response else {}
        usage = object_in(attributes.get(names.LOGFIRE_RAW_USAGE))
        details = usage.get("output_tokens_details")
        if isinstance(details, dict) and (reasoning := count(details.get("reasoning_tokens"))) is not None:
            found["reasoning_tokens"] = reasoning
        return found
    table = _TABLES.get(role)
    found = table.read(attributes) if table is not None else {}
    if role is Role.TOOL:
        for field, key in (("arguments", _INPUT), ("result", _OUTPUT)):
            value = first_content(attributes, (key,))
            if value is not None:
                found[field] = value
        failure = object_in(attributes.get(names.ERROR))
        if failure:
            found["is_error"] = True
    return found


def _told(span: SpanFacts) -> tuple[Told, ...]:
    return told_in_messages(decode_structure(span.attributes.get("raw_input")))


LOGFIRE: Final = Dialect(
    name="logfire",
    markers=frozenset(),
    scopes=frozenset({names.LOGFIRE_AGENTS_SCOPE}),
    role=_role,
    fields=_fields,
    told=_told,
)
