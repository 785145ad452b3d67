"""AgentOps: its decorators, and its instrumentations of model clients and frameworks.

Source: PyPI `agentops` `semconv`, `sdk/decorators`, `instrumentation/providers`. Its model spans write older GenAI names
and flattened messages; Anthropic's cached tokens are neither counted nor told (`providers/anthropic/attributes`).
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table, content
from otel_processor.dialects.messages import read_flat_messages
from otel_processor.dialects.values import word
from otel_processor.model import Role, SpanFacts

_ROLES: Final = {
    "session": Role.WORKFLOW,
    "workflow": Role.WORKFLOW,
    "agent": Role.AGENT,
    "llm": Role.MODEL,
}
_REQUESTS: Final = {"chat": Role.MODEL, "completion": Role.MODEL}

_TOOL: Final = Table.of(
    words={
        "tool": (names.OI_TOOL_NAME, names.AGENTOPS_NAME, names.AGENTOPS_ENTITY_NAME),
        "call_id": (names.AGENTOPS_TOOL_CALL_ID,),
        "agent": (names.OI_AGENT_NAME,),
    }
)
_ROOT: Final = Table.of(words={"agent": (names.OI_AGENT_NAME, names.AGENTOPS_NAME, names.AGENTOPS_ENTITY_NAME)})
_PLAIN: Final = Table.of(words={"agent": (names.OI_AGENT_NAME,)})
_TABLES: Final = {
    Role.TOOL: _TOOL,
    Role.MODEL: _PLAIN,
    Role.AGENT: _ROOT,
    Role.WORKFLOW: _ROOT,
    Role.OTHER: _PLAIN,
}
_ARGUMENTS: Final = (names.AGENTOPS_TOOL_INPUT, names.AGENTOPS_ENTITY_INPUT, names.AGENTOPS_TOOL_PARAMETERS)
_RESULT: Final = (names.AGENTOPS_TOOL_OUTPUT, names.AGENTOPS_ENTITY_OUTPUT, names.AGENTOPS_TOOL_RESULT)


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    if attributes.get(names.AGENTOPS_TOOL_CALL_TYPE) is not None:
        # What a model asked for, as a span of no length beside the call itself.
        return Role.OTHER
    kind = word(attributes.get(names.AGENTOPS_KIND))
    if kind is not None:
        # CrewAI's tools are written as `tool` and, inside, as the use of one.
        return Role.TOOL if kind.startswith("tool") else _ROLES.get(kind, Role.OTHER)
    request = word(attributes.get(names.AGENTOPS_REQUEST_TYPE))
    return _REQUESTS.get(request, Role.OTHER) if request else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLES[role].read(attributes)
    if role is Role.TOOL:
        found.setdefault("tool", span.name.removesuffix(".tool_usage").removesuffix(".tool"))
        found |= content(attributes, arguments=_ARGUMENTS, result=_RESULT)
    elif role is Role.MODEL:
        found |= read_flat_messages(attributes, names.TL_COMPLETION_PREFIX).fields()
    elif role.is_task_root:
        found.setdefault("agent", span.name.removesuffix(".session").removesuffix(".agent").removesuffix(".workflow"))
    return found


AGENTOPS: Final = Dialect(
    name="agentops",
    markers=frozenset({names.AGENTOPS_KIND, names.AGENTOPS_REQUEST_TYPE}),
    role=_role,
    fields=_fields,
    state_keys=(names.TOOL_STATUS_OLD, names.AGENTOPS_END_STATE),
)
