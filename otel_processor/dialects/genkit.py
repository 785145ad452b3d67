"""Genkit (JavaScript, Go and Python): actions with their whole input and output as JSON.

Source: npm `@genkit-ai/core` `src/tracing/instrumentation.ts`, `src/action.ts`; `@genkit-ai/ai` `src/model-types.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table, content
from otel_processor.dialects.responses import object_in, read_response
from otel_processor.dialects.values import count, flag, word
from otel_processor.model import Role, SpanFacts

_ROLES: Final = {
    "tool": Role.TOOL,
    "tool.v2": Role.TOOL,
    "model": Role.MODEL,
    "background-model": Role.MODEL,
    "flow": Role.WORKFLOW,
    "agent": Role.AGENT,
}

_TABLE: Final = Table.of(words={"conversation_id": (names.GENKIT_SESSION_ID,)})


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    kind = word(attributes.get(names.GENKIT_SUBTYPE)) or word(attributes.get(names.GENKIT_TYPE))
    if kind is None:
        return None
    role = _ROLES.get(kind, Role.OTHER)
    # `generate` surrounds each turn, the next one inside the last; called without a flow, the first of them is the task.
    if role is Role.OTHER and flag(attributes.get(names.GENKIT_IS_ROOT)):
        return Role.WORKFLOW
    return role


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLE.read(attributes)
    name = word(attributes.get(names.GENKIT_NAME)) or span.name
    if role is Role.TOOL:
        found["tool"] = name
        found |= content(attributes, arguments=(names.GENKIT_INPUT,), result=(names.GENKIT_OUTPUT,))
    elif role is Role.MODEL:
        provider, _, model = name.rpartition("/")
        found["model"] = model
        if provider:
            found["provider"] = provider
        output = object_in(attributes.get(names.GENKIT_OUTPUT))
        found |= _counts(object_in(output.get("usage"))) | read_response(output).fields()
    elif role.is_task_root:
        found["agent"] = name
    return found


def _counts(usage: Mapping[str, Any]) -> Fields:
    """Counts with the thoughts in the output: Gemini's plugin counts them apart, OpenAI's does not, as the total tells.

    Source: `@genkit-ai/google-genai` `src/googleai/gemini.ts`, `@genkit-ai/compat-oai`; cached content is in the input.
    """
    counts = {
        "input_tokens": count(usage.get("inputTokens")),
        "output_tokens": count(usage.get("outputTokens")),
        "cache_read_tokens": count(usage.get("cachedContentTokens")),
        "reasoning_tokens": count(usage.get("thoughtsTokens")),
    }
    output, thoughts, total = counts["output_tokens"], counts["reasoning_tokens"], count(usage.get("totalTokens"))
    if output is not None and thoughts and total is not None and total >= (counts["input_tokens"] or 0) + output + thoughts:
        counts["output_tokens"] = output + thoughts
    return {name: value for name, value in counts.items() if value is not None}


GENKIT: Final = Dialect(
    name="genkit",
    markers=frozenset({names.GENKIT_SUBTYPE, names.GENKIT_TYPE}),
    role=_role,
    fields=_fields,
    state_keys=(names.GENKIT_STATE,),
)
