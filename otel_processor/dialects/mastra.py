"""Mastra's OpenTelemetry exporter, which writes by the GenAI conventions beside a span type of its own.

Source: npm `@mastra/otel-exporter` `gen-ai-semantics`, `@mastra/core` `observability/types/tracing.d.ts`. Its counts are
the conventions': usage of providers that leave cached tokens out is completed before it is written.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.finish import first_reason
from otel_processor.dialects.responses import read_response
from otel_processor.dialects.values import word
from otel_processor.model import Role, SpanFacts

_ROLES: Final = {
    "agent_run": Role.AGENT,
    "workflow_run": Role.WORKFLOW,
    "model_inference": Role.MODEL,
    "tool_call": Role.TOOL,
    "mcp_tool_call": Role.TOOL,
    "client_tool_call": Role.TOOL,
    "provider_tool_call": Role.TOOL,
}

_TABLE: Final = Table.of(words={"conversation_id": (names.CONVERSATION_ID, names.MASTRA_THREAD_ID, names.MASTRA_SESSION_ID)})


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    kind = word(attributes.get(names.MASTRA_TYPE))
    if kind is None:
        return None
    kind = kind.lower()
    # The loop over the turns of a model; before turns had spans of their own it was the model call.
    if kind == "model_generation" and attributes.get(names.OPERATION) == "chat":
        return Role.MODEL
    return _ROLES.get(kind, Role.OTHER)


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLE.read(attributes)
    if role is Role.MODEL:
        # An answer with tool calls and no text is left in Mastra's own shape.
        found |= read_response(attributes.get(names.OUTPUT_MESSAGES)).fields()
        if reason := first_reason(attributes.get(names.FINISH_REASONS)):
            found["finish_reason"] = reason
    return found


MASTRA: Final = Dialect(
    name="mastra",
    markers=frozenset({names.MASTRA_TYPE}),
    role=_role,
    fields=_fields,
)
