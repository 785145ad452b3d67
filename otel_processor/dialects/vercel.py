"""Vercel AI SDK, versions 4 to 6 and the legacy integration of 7; the new one of 7 writes by the GenAI conventions.

Source: npm `ai` 5 and 6 (`dist/index.mjs`), `@ai-sdk/otel` `src/legacy-open-telemetry.ts`.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table, content
from otel_processor.dialects.finish import first_reason
from otel_processor.dialects.messages import MAX_TEXT_CHARS, read_messages
from otel_processor.dialects.responses import object_in
from otel_processor.dialects.values import amount, decode_structure, first_content, word
from otel_processor.model import Attributes, Role, SpanFacts

_ROOTS: Final = frozenset({"ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"})

_WHO: Final = {
    "agent": (names.VERCEL_FUNCTION_ID,),
    "conversation_id": (
        names.VERCEL_SESSION_ID,
        names.VERCEL_THREAD_ID,
        names.VERCEL_CONVERSATION_ID,
        names.VERCEL_CHAT_ID,
        names.VERCEL_CONTEXT_SESSION_ID,
    ),
}
_MODEL_WORDS: Final = {
    "model": (names.VERCEL_RESPONSE_MODEL, names.VERCEL_MODEL),
    "provider": (names.VERCEL_PROVIDER,),
}
_COUNTS: Final = {
    "input_tokens": (names.VERCEL_INPUT_TOKENS, names.VERCEL_PROMPT_TOKENS),
    "output_tokens": (names.VERCEL_OUTPUT_TOKENS, names.VERCEL_COMPLETION_TOKENS),
    "cache_read_tokens": (names.VERCEL_CACHE_READ_TOKENS, names.VERCEL_CACHED_TOKENS),
    "cache_write_tokens": (names.VERCEL_CACHE_WRITE_TOKENS,),
    "reasoning_tokens": (names.VERCEL_REASONING_TOKENS_DETAIL, names.VERCEL_REASONING_TOKENS),
}
_TOOL_WORDS: Final = {"tool": (names.VERCEL_TOOL_NAME,), "call_id": (names.VERCEL_TOOL_CALL_ID,)}
# A root's usage is the last step's in some versions and the sum in others, so nobody can use it.
_ROOT: Final = Table.of(words=_WHO | _MODEL_WORDS)
_TABLES: Final = {
    Role.TOOL: Table.of(words=_WHO | _TOOL_WORDS),
    Role.MODEL: Table.of(words=_WHO | _MODEL_WORDS, counts=_COUNTS),
    Role.AGENT: _ROOT,
    Role.WORKFLOW: _ROOT,
    Role.OTHER: Table.of(words=_WHO),
}


def _role(span: SpanFacts) -> Role | None:
    operation = word(span.attributes.get(names.VERCEL_OPERATION))
    if operation is None:
        return None
    if operation == "ai.toolCall":
        return Role.TOOL
    if operation.endswith((".doGenerate", ".doStream")):
        return Role.MODEL
    return Role.AGENT if operation in _ROOTS else Role.OTHER


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLES[role].read(attributes)
    if role is Role.TOOL:
        found |= content(attributes, arguments=(names.VERCEL_TOOL_ARGUMENTS,), result=(names.VERCEL_TOOL_RESULT,))
    elif role is not Role.OTHER:
        reason = first_reason(attributes.get(names.VERCEL_FINISH_REASON))
        if reason is not None:
            found["finish_reason"] = reason
    if role is Role.MODEL:
        _add_answer(found, attributes)
        _include_cached(found, attributes)
        _add_cost(found, attributes)
    return found


def _add_answer(found: Fields, attributes: Attributes) -> None:
    for field, keys in (("text", (names.VERCEL_TEXT, names.VERCEL_OBJECT)), ("reasoning", (names.VERCEL_REASONING,))):
        said = first_content(attributes, keys)
        if isinstance(said, str) and said:
            found[field] = said[:MAX_TEXT_CHARS]
    calls = attributes.get(names.VERCEL_TOOL_CALLS)
    if calls is not None:
        requested = read_messages([{"tool_calls": decode_structure(calls)}]).requested
        if requested:
            found["requested"] = requested


def _include_cached(found: Fields, attributes: Attributes) -> None:
    """Versions 4 and 5 hand on what the provider counts: Anthropic and Bedrock leave cached tokens out of the input.

    Later versions add them, and say so by telling the uncached ones apart.
    Source: `@ai-sdk/anthropic` 2 and `@ai-sdk/amazon-bedrock` 3, where `inputTokens` is the provider's own count.
    """
    cached = found.get("cache_read_tokens")
    if not cached or "input_tokens" not in found or attributes.get(names.VERCEL_UNCACHED_TOKENS) is not None:
        return
    provider = str(found.get("provider", "")).lower()
    # Of objects, later versions tell no details either: those are left to the rule that all dialects share.
    if ("anthropic" in provider or "bedrock" in provider) and attributes.get(names.VERCEL_OBJECT) is None:
        found["input_tokens"] += cached


def _add_cost(found: Fields, attributes: Attributes) -> None:
    """Vercel's gateway and OpenRouter say what a call cost."""
    metadata = attributes.get(names.VERCEL_PROVIDER_METADATA)
    if not isinstance(metadata, str) or "cost" not in metadata:
        return
    told: dict[str, Any] = object_in(metadata)
    openrouter = object_in(told.get("openrouter"))
    for holder in (object_in(told.get("gateway")), object_in(openrouter.get("usage"))):
        cost = amount(holder.get("cost"))
        if cost is not None:
            found["cost_usd"] = cost
            return


VERCEL: Final = Dialect(
    name="vercel",
    markers=frozenset({names.VERCEL_OPERATION}),
    role=_role,
    fields=_fields,
)
