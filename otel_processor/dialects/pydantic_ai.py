"""Pydantic AI before it wrote operation names, and what it still writes beside the GenAI conventions.

Source: pydantic-ai-slim 0.2.0 `pydantic_ai/models/instrumented.py`, `_agent_graph.py`; 1.0.0
`pydantic_ai/models/instrumented.py`; 2.68.0 `pydantic_ai/capabilities/instrumentation.py`.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.messages import read_messages
from otel_processor.dialects.told import told_in_messages
from otel_processor.dialects.values import decode_structure, first_content, word
from otel_processor.model import Role, SpanFacts, Told

_NAMES: Final = {"agent run": Role.AGENT, "running tools": Role.OTHER}
_ROOT: Final = Table.of(words={"agent": (names.PLAIN_AGENT_NAME,)})


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    if span.scope != names.PYDANTIC_SCOPE or word(attributes.get(names.OPERATION)):
        return None
    # The newest name a tool's span after the tool, the oldest `running tool`.
    return Role.TOOL if attributes.get(names.TOOL_NAME) is not None else _NAMES.get(span.name)


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    if role is Role.TOOL:
        found: Fields = {}
        for field, key in (("arguments", names.PYDANTIC_TOOL_ARGUMENTS), ("result", names.PYDANTIC_TOOL_RESPONSE)):
            value = first_content(attributes, (key,))
            if value is not None:
                found[field] = value
        return found
    if role is Role.MODEL and span.scope == names.PYDANTIC_SCOPE and attributes.get(names.OUTPUT_MESSAGES) is None:
        answer = _answer(attributes.get(names.PYDANTIC_EVENTS))
        return read_messages(answer).fields() if answer is not None else {}
    return _ROOT.read(attributes) if role.is_task_root else {}


def _answer(events: Any) -> Any:
    """The answer among events that were written as one JSON attribute."""
    listed = decode_structure(events)
    if isinstance(listed, list):
        for event in reversed(listed):
            if isinstance(event, dict) and event.get(names.EVENT_NAME) == names.CHOICE_EVENT:
                return [event]
    return None


def _told(span: SpanFacts) -> tuple[Told, ...]:
    """Results among the messages that the model is given: up to 0.2 a tool's own span has none."""
    listed = decode_structure(span.attributes.get(names.PYDANTIC_EVENTS)) if span.scope == names.PYDANTIC_SCOPE else None
    if not isinstance(listed, list):
        return ()
    asked = [event for event in listed if isinstance(event, dict) and event.get(names.EVENT_NAME) != names.CHOICE_EVENT]
    return told_in_messages(asked)


PYDANTIC_AI: Final = Dialect(
    name="pydantic_ai",
    markers=frozenset({names.PYDANTIC_TOOL_ARGUMENTS, names.PYDANTIC_TOOL_RESPONSE}),
    scopes=frozenset({names.PYDANTIC_SCOPE}),
    role=_role,
    fields=_fields,
    told=_told,
)
