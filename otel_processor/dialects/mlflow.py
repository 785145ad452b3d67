"""MLflow Tracing: its decorator and its integrations. It writes every attribute as JSON, texts included.

Source: PyPI `mlflow` `tracing/constant.py`, `entities/span.py`; with MLFLOW_ENABLE_OTEL_GENAI_SEMCONV it writes by the
GenAI conventions instead.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, content
from otel_processor.dialects.responses import object_in, read_response
from otel_processor.dialects.values import amount, count, decode_structure, word
from otel_processor.model import Attributes, Role, SpanFacts

# A chat model inside an LLM is one call told twice, which is for those to see who know the tree.
_ROLES: Final = {
    "TOOL": Role.TOOL,
    "CHAT_MODEL": Role.MODEL,
    "LLM": Role.MODEL,
    "AGENT": Role.AGENT,
    "WORKFLOW": Role.WORKFLOW,
}
_WORDS: Final = {
    "model": (names.MLFLOW_MODEL,),
    "provider": (names.MLFLOW_PROVIDER,),
    "conversation_id": (names.SESSION_ID, names.MLFLOW_SESSION_ID),
}
# Input includes what was cached and output the thoughts: the integrations add them where a provider counts them apart
# (`anthropic/autolog.py`, `bedrock/utils.py`, `gemini/autolog.py`).
_COUNTS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


def _word(value: Any) -> str | None:
    return word(decode_structure(value)) if isinstance(value, str) else None


def _role(span: SpanFacts) -> Role | None:
    kind = _word(span.attributes.get(names.MLFLOW_TYPE))
    return _ROLES.get(kind.upper(), Role.OTHER) if kind else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found: Fields = {}
    for name, keys in _WORDS.items():
        for key in keys:
            if (told := _word(attributes.get(key))) is not None:
                found[name] = told
                break
    if role is Role.TOOL:
        _add_tool(found, span, attributes)
    elif role is Role.MODEL:
        found |= read_response(attributes.get(names.MLFLOW_OUTPUTS)).fields()
    if role is not Role.TOOL:
        _add_usage(found, attributes)
    if role is Role.AGENT:
        found["agent"] = span.name
    return found


def _add_tool(found: Fields, span: SpanFacts, attributes: Attributes) -> None:
    # A span may be named by the user, whereas several tools can share a function: what the user calls it comes first.
    found["tool"] = word(span.name) or _word(attributes.get(names.MLFLOW_FUNCTION))
    found |= content(attributes, arguments=(names.MLFLOW_INPUTS,), result=(names.MLFLOW_OUTPUTS,))


def _add_usage(found: Fields, attributes: Attributes) -> None:
    usage = attributes.get(names.MLFLOW_USAGE)
    if usage is not None:
        told = object_in(usage)
        for name, key in _COUNTS.items():
            if (number := count(told.get(key))) is not None:
                found[name] = number
    cost = amount(object_in(attributes.get(names.MLFLOW_COST)).get("total_cost"))
    if cost is not None:
        found["cost_usd"] = cost


MLFLOW: Final = Dialect(
    name="mlflow",
    markers=frozenset({names.MLFLOW_TYPE}),
    role=_role,
    fields=_fields,
)
