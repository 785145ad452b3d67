"""LiveKit Agents: tools and turns under its own names, models (and by now all of it) by the GenAI conventions.

Source: PyPI `livekit-agents` `telemetry/trace_types.py`, `telemetry/gen_ai.py`, `voice/generation.py`. Its counts are the
conventions'. Only `llm_request` is a model call: `llm_node` surrounds it, and `llm_request_run` is an attempt inside.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table, content
from otel_processor.dialects.genai import role_of_operation
from otel_processor.model import Role, SpanFacts

_NAMES: Final = {"agent_session": Role.WORKFLOW, "agent_turn": Role.AGENT, "llm_request": Role.MODEL}

_AGENT: Final = {"agent": (names.AGENT_NAME, names.LIVEKIT_AGENT_NAME, names.LIVEKIT_AGENT_LABEL)}
_CALL: Final = Table.of(words={"tool": (names.LIVEKIT_TOOL_NAME,), "call_id": (names.LIVEKIT_TOOL_CALL_ID,)})
_ROOT: Final = Table.of(words=_AGENT)
_ARGUMENTS: Final = (names.LIVEKIT_TOOL_ARGUMENTS, names.LIVEKIT_TOOL_ARGUMENTS_OLD)
_RESULT: Final = (names.LIVEKIT_TOOL_RESULT, names.LIVEKIT_TOOL_RESULT_OLD)


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    if attributes.get(names.LIVEKIT_TOOL_NAME) is not None:
        return Role.TOOL
    operation = role_of_operation(span)
    # Releases before 1.8 gave no operation; what surrounds a model call and its attempts name the model as well.
    return operation if operation is not None or span.scope != names.LIVEKIT_SCOPE else _NAMES.get(span.name, Role.OTHER)


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    if role is not Role.TOOL:
        return _ROOT.read(attributes) if role.is_task_root else {}
    found = _CALL.read(attributes)
    found |= content(attributes, arguments=_ARGUMENTS, result=_RESULT)
    return found


LIVEKIT: Final = Dialect(
    name="livekit",
    markers=frozenset({names.LIVEKIT_TOOL_NAME, names.LIVEKIT_GENERATION_ID}),
    scopes=frozenset({names.LIVEKIT_SCOPE}),
    role=_role,
    fields=_fields,
    state_keys=(names.LIVEKIT_TOOL_IS_ERROR,),
)
