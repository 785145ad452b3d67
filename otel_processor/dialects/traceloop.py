"""Traceloop / OpenLLMetry: its own names for workflows, tasks, agents and tools, and its older flattened messages.

Source: traceloop/openllmetry, `opentelemetry-semantic-conventions-ai` and the SDK's decorators. What its newer
releases write by the GenAI conventions is read there.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.finish import first_reason
from otel_processor.dialects.messages import read_flat_messages
from otel_processor.dialects.told import told_in_flat_messages
from otel_processor.dialects.values import decode_structure, first_content, word
from otel_processor.model import Attributes, Role, SpanFacts, Told

_ROLES: Final = {"tool": Role.TOOL, "agent": Role.AGENT, "workflow": Role.WORKFLOW}
_REQUESTS: Final = {"chat": Role.MODEL, "completion": Role.MODEL}

_CONVERSATION: Final = {"conversation_id": (names.TL_SESSION_ID, names.TL_CONVERSATION_ID, names.TL_THREAD_ID)}
_CALL: Final = Table.of(words=_CONVERSATION | {"agent": (names.TL_LC_AGENT_NAME,)})
_TABLES: Final = {
    Role.TOOL: _CALL,
    Role.MODEL: _CALL,
    Role.AGENT: Table.of(words=_CONVERSATION | {"agent": (names.AGENT_NAME, names.TL_ENTITY_NAME, names.TL_LC_AGENT_NAME)}),
    Role.WORKFLOW: Table.of(words=_CONVERSATION | {"agent": (names.TL_ENTITY_NAME, names.TL_WORKFLOW_NAME)}),
    Role.OTHER: _CALL,
}


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    kind = word(attributes.get(names.TL_KIND))
    if kind == "tool" and _is_server_half(attributes):
        return Role.OTHER
    if kind is not None:
        return Role.TOOL if kind == "task" and _is_tool_task(attributes) else _ROLES.get(kind, Role.OTHER)
    request = word(attributes.get(names.TL_REQUEST_TYPE))
    return _REQUESTS.get(request, Role.OTHER) if request else None


def _is_server_half(attributes: Attributes) -> bool:
    """A tool call as an MCP server of the same trace tells it again: its workflow is the server, such as `weather.mcp`."""
    workflow = word(attributes.get(names.TL_WORKFLOW_NAME))
    return workflow is not None and workflow.endswith(".mcp")


def _is_tool_task(attributes: Attributes) -> bool:
    """LlamaIndex tools are written as tasks named after their class, such as `FunctionTool.task`."""
    entity = word(attributes.get(names.TL_ENTITY_NAME))
    return entity is not None and entity.endswith("Tool.task")


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLES[role].read(attributes)
    if role is Role.TOOL:
        _add_content(found, span, attributes)
    elif role is Role.MODEL:
        for name, value in read_flat_messages(attributes, names.TL_COMPLETION_PREFIX).fields().items():
            found[name] = value
    elif role.is_task_root and (reason := first_reason(attributes.get(names.TL_FIRST_FINISH_REASON))):
        found["finish_reason"] = reason
    return found


def _add_content(found: Fields, span: SpanFacts, attributes: Attributes) -> None:
    arguments = first_content(attributes, (names.TL_INPUT,))
    result = first_content(attributes, (names.TL_OUTPUT,))
    tool = word(attributes.get(names.TL_ENTITY_NAME))
    if _is_tool_task(attributes) and isinstance(output := decode_structure(result), dict):
        tool = word(output.get("tool_name")) or tool
    found["tool"] = (tool or span.name).removesuffix(".task").removesuffix(".tool")
    if arguments is not None:
        found["arguments"] = arguments
    if result is not None:
        found["result"] = result


def _told(span: SpanFacts) -> tuple[Told, ...]:
    return told_in_flat_messages(span.attributes, names.TL_PROMPT_PREFIX) if _role(span) is Role.MODEL else ()


TRACELOOP: Final = Dialect(
    name="traceloop",
    markers=frozenset({names.TL_KIND, names.TL_ENTITY_NAME, names.TL_WORKFLOW_NAME, names.TL_REQUEST_TYPE}),
    role=_role,
    fields=_fields,
    told=_told,
)
