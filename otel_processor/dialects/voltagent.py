"""VoltAgent: every span carries the agent that it belongs to, and those inside it a type of their own.

Source: npm `@voltagent/core` `dist/index.mjs` (`AgentTraceContext`, `createLLMSpan`, `convertUsage`). A model span may
cover several turns of the Vercel AI SDK, whose counts it hands on: reasoning in the output, cached tokens as there.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table, content
from otel_processor.dialects.finish import first_reason
from otel_processor.dialects.values import word
from otel_processor.model import Role, SpanFacts

_INNER: Final = {"llm": Role.MODEL, "tool": Role.TOOL}
_OUTER: Final = {"agent": Role.AGENT, "workflow": Role.WORKFLOW}

# A sub-agent's spans carry its parent as the entity.
_WHO: Final = {
    "agent": (names.VOLTAGENT_SUBAGENT_NAME, names.VOLTAGENT_ENTITY_NAME),
    "conversation_id": (names.CODEX_CONVERSATION_ID,),
}
_COST: Final = {"cost_usd": (names.VOLTAGENT_COST,)}
_PLAIN: Final = Table.of(words=_WHO)
_ROOT: Final = Table.of(
    words=_WHO | {"model": (names.VOLTAGENT_ROOT_MODEL,)},
    counts={
        "input_tokens": (names.VOLTAGENT_TOTAL_INPUT_TOKENS,),
        "output_tokens": (names.VOLTAGENT_TOTAL_OUTPUT_TOKENS,),
        "cache_read_tokens": (names.VOLTAGENT_TOTAL_CACHED_TOKENS,),
        "reasoning_tokens": (names.VOLTAGENT_TOTAL_REASONING_TOKENS,),
    },
    amounts=_COST,
)
_TABLES: Final = {
    Role.TOOL: Table.of(words=_WHO | {"tool": (names.OI_TOOL_NAME,), "call_id": (names.AGENTOPS_TOOL_CALL_ID,)}),
    Role.MODEL: Table.of(
        words=_WHO | {"model": (names.VOLTAGENT_MODEL,), "provider": (names.OI_PROVIDER,)},
        counts={
            "input_tokens": (names.VOLTAGENT_INPUT_TOKENS,),
            "output_tokens": (names.PLAIN_OUTPUT_TOKENS,),
            "cache_read_tokens": (names.VOLTAGENT_CACHED_TOKENS,),
            "reasoning_tokens": (names.VOLTAGENT_REASONING_TOKENS,),
        },
        amounts=_COST,
    ),
    Role.AGENT: _ROOT,
    Role.WORKFLOW: _ROOT,
    Role.OTHER: _PLAIN,
}


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    inner = word(attributes.get(names.CLAUDE_SPAN_TYPE))
    if inner is not None:
        return _INNER.get(inner, Role.OTHER)
    outer = word(attributes.get(names.VOLTAGENT_ENTITY_TYPE))
    return _OUTER.get(outer, Role.OTHER) if outer else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLES[role].read(attributes)
    if role is Role.TOOL:
        found.setdefault("tool", span.name.removeprefix("tool.execution:"))
        found |= content(attributes, arguments=(names.VOLTAGENT_INPUT,), result=(names.PLAIN_OUTPUT,))
    elif role is not Role.OTHER:
        key = names.OI_FINISH_REASON if role is Role.MODEL else names.VOLTAGENT_ROOT_FINISH_REASON
        if reason := first_reason(attributes.get(key)):
            found["finish_reason"] = reason
    return found


VOLTAGENT: Final = Dialect(
    name="voltagent",
    markers=frozenset({names.VOLTAGENT_ENTITY_TYPE}),
    role=_role,
    fields=_fields,
)
