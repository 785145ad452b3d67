"""OpenAI Agents, as OpenTelemetry's own instrumentation writes it: the items of an answer as Python prints them.

Source: PyPI opentelemetry-instrumentation-openai-agents-v2 `span_processor.py`; the items are openai's
`ResponseReasoningItem` and `ResponseFunctionToolCall`. Handoffs: openinference-instrumentation-openai-agents `_processor.py`.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.messages import read_messages
from otel_processor.dialects.values import decode_structure
from otel_processor.model import Role, SpanFacts

_TEXT: Final = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_THOUGHT: Final = re.compile(r"\btext=" + _TEXT, re.DOTALL)
_FIELD: Final = re.compile(r"\b(arguments|call_id|name)=" + _TEXT, re.DOTALL)
_MAX_CHARS: Final = 20_000


def _role(span: SpanFacts) -> Role | None:
    """OpenInference calls a handoff a tool call, between two agents instead of with arguments."""
    is_handoff = span.scope == names.OPENAI_AGENTS_OI_SCOPE and span.name.startswith("handoff to ")
    return Role.OTHER if is_handoff and span.attributes.get(names.OI_TOOL_NAME) is None else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    if span.scope != names.OPENAI_AGENTS_SCOPE:
        return {}
    messages = decode_structure(span.attributes.get(names.OUTPUT_MESSAGES)) if role is Role.MODEL else None
    return read_messages([_restored(message) for message in messages]).fields() if isinstance(messages, list) else {}


def _restored(message: Any) -> Any:
    """A message whose parts that were printed are parts again."""
    parts = message.get("parts") if isinstance(message, dict) else None
    return message | {"parts": [_part(part) for part in parts]} if isinstance(parts, list) else message


def _part(part: Any) -> Any:
    text = part.get("content") if isinstance(part, dict) else None
    if not isinstance(text, str) or not text.startswith("Response"):
        return part
    text = text[:_MAX_CHARS]
    if text.startswith("ResponseReasoningItem("):
        thoughts = [_literal(thought) for thought in _THOUGHT.findall(text)]
        return {"type": "reasoning", "content": "\n".join(thought for thought in thoughts if thought)}
    if text.startswith("ResponseFunctionToolCall("):
        asked = {name: _literal(value) for name, value in reversed(_FIELD.findall(text))}
        return {"type": "tool_call", "id": asked.get("call_id"), "name": asked.get("name"), "arguments": asked.get("arguments")}
    return part


def _literal(text: str) -> str | None:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None


OPENAI_AGENTS: Final = Dialect(
    name="openai_agents",
    markers=frozenset(),
    scopes=frozenset({names.OPENAI_AGENTS_SCOPE, names.OPENAI_AGENTS_OI_SCOPE}),
    role=_role,
    fields=_fields,
)
