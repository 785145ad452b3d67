"""Braintrust's SDKs, whose spans carry JSON: what a span is, what went in and out, what it counted.

Source: braintrustdata/braintrust-sdk-java `InstrumentationSemConv.java`, `TracingToolExecutor.java`.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, content
from otel_processor.dialects.responses import object_in, read_response
from otel_processor.dialects.values import count, decode_structure, word
from otel_processor.model import Attributes, Role, SpanFacts

_ROLES: Final = {"tool": Role.TOOL, "llm": Role.MODEL, "task": Role.WORKFLOW}
_COUNTS: Final = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "cache_read_tokens": "prompt_cached_tokens",
    "cache_write_tokens": "prompt_cache_creation_tokens",
    "reasoning_tokens": "completion_reasoning_tokens",
}
_INPUT: Final = (names.BRAINTRUST_INPUT_JSON, names.BRAINTRUST_INPUT)
_OUTPUT: Final = (names.BRAINTRUST_OUTPUT_JSON, names.BRAINTRUST_OUTPUT)


def _role(span: SpanFacts) -> Role | None:
    kind = word(object_in(span.attributes.get(names.BRAINTRUST_SPAN)).get("type"))
    return _ROLES.get(kind.lower(), Role.OTHER) if kind is not None else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    if role is Role.TOOL:
        return {"tool": span.name} | content(attributes, arguments=_INPUT, result=_OUTPUT)
    if role is Role.WORKFLOW:
        return {"agent": span.name}
    return _model(attributes) if role is Role.MODEL else {}


def _model(attributes: Attributes) -> Fields:
    metadata = object_in(attributes.get(names.BRAINTRUST_METADATA))
    metrics = object_in(attributes.get(names.BRAINTRUST_METRICS))
    found: Fields = {name: told for name in ("model", "provider") if (told := word(metadata.get(name))) is not None}
    found |= {field: number for field, key in _COUNTS.items() if (number := count(metrics.get(key))) is not None}
    if found.get("provider") == "anthropic" and "input_tokens" in found:
        # Anthropic counts what it cached apart, and this SDK passes that on.
        found["input_tokens"] += (found.get("cache_read_tokens") or 0) + (found.get("cache_write_tokens") or 0)
    output = next((attributes[key] for key in _OUTPUT if key in attributes), None)
    if output is not None:
        said = decode_structure(output)
        # OpenAI's choices, without the response around them.
        found |= read_response({"choices": said} if isinstance(said, list) else said).fields()
    return found


BRAINTRUST: Final = Dialect(
    name="braintrust",
    markers=frozenset({names.BRAINTRUST_SPAN}),
    role=_role,
    fields=_fields,
)
