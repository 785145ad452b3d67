"""LangWatch's SDK for Python: its own kinds, and inputs and outputs that say of what type they are.

Source: PyPI `langwatch` 1.4 `attributes.py`, `telemetry/span.py`.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.responses import object_in, read_response
from otel_processor.dialects.values import amount, count, first_word, word
from otel_processor.model import Attributes, Role, SpanFacts

_ROLES: Final = {"tool": Role.TOOL, "llm": Role.MODEL, "agent": Role.AGENT}
_CONVERSATION: Final = ("thread_id", "langwatch.thread.id", "conversation_id", "session_id")
_COUNTS: Final = {
    "input_tokens": ("prompt_tokens",),
    "output_tokens": ("completion_tokens",),
    "cache_read_tokens": ("cache_read_input_tokens",),
    "cache_write_tokens": ("cache_creation_input_tokens",),
    "reasoning_tokens": ("reasoning_tokens",),
}


def _role(span: SpanFacts) -> Role | None:
    kind = word(span.attributes.get(names.LANGWATCH_TYPE))
    return _ROLES.get(kind.lower(), Role.OTHER) if kind is not None else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found: Fields = {}
    conversation = first_word(object_in(attributes.get(names.OI_METADATA)), _CONVERSATION)
    if conversation is not None:
        found["conversation_id"] = conversation
    if role is Role.TOOL:
        found["tool"] = span.name
        told = {"arguments": _typed(attributes, names.LANGWATCH_INPUT), "result": _typed(attributes, names.LANGWATCH_OUTPUT)}
        found |= {name: value for name, value in told.items() if value is not None}
    elif role is Role.AGENT:
        found["agent"] = span.name
    elif role is Role.MODEL:
        _add_model(found, attributes)
    return found


def _typed(attributes: Attributes, key: str) -> Any:
    """The value of `{"type": …, "value": …}`."""
    return object_in(attributes.get(key)).get("value")


def _add_model(found: Fields, attributes: Attributes) -> None:
    name = first_word(attributes, (names.RESPONSE_MODEL, names.REQUEST_MODEL))
    if name is not None:
        # As LiteLLM writes it, the provider in front.
        provider, slash, model = name.partition("/")
        found |= {"model": model, "provider": provider} if slash and model else {"model": name}
    metrics = object_in(attributes.get(names.LANGWATCH_METRICS))
    for field, keys in _COUNTS.items():
        number = next((number for key in keys if (number := count(metrics.get(key))) is not None), None)
        if number is not None:
            found[field] = number
    cost = amount(metrics.get("cost"))
    if cost is not None:
        found["cost_usd"] = cost
    output = _typed(attributes, names.LANGWATCH_OUTPUT)
    if output is not None:
        found |= read_response(output).fields()


LANGWATCH: Final = Dialect(
    name="langwatch",
    markers=frozenset({names.LANGWATCH_TYPE}),
    role=_role,
    fields=_fields,
)
