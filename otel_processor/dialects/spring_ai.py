"""Spring AI: tools, chat clients and advisors under its own names, models by the GenAI conventions.

Source: spring-projects/spring-ai `ToolCallingObservationDocumentation`, `ChatClientObservationDocumentation`,
`AiObservationAttributes`. Micrometer writes all values as text, and `none` where there is no value.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, content
from otel_processor.dialects.values import word
from otel_processor.model import Role, SpanFacts

_ROLES: Final = {"tool_call": Role.TOOL, "chat_client": Role.AGENT}
_PREFIX: Final = "tool_call "


def _word(value: Any) -> str | None:
    told = word(value)
    return None if told == "none" else told


def _role(span: SpanFacts) -> Role | None:
    kind = word(span.attributes.get(names.SPRING_KIND))
    # The operation by the conventions is `framework` for all of them.
    return _ROLES.get(kind, Role.OTHER) if kind else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found: Fields = {}
    conversation = _word(attributes.get(names.SPRING_CONVERSATION_ID))
    if conversation is not None:
        found["conversation_id"] = conversation
    if role is Role.MODEL:
        # The model that answered is `none` where none did.
        found["model"] = _word(attributes.get(names.RESPONSE_MODEL)) or _word(attributes.get(names.REQUEST_MODEL))
    if role is not Role.TOOL:
        return found
    found["tool"] = _word(attributes.get(names.SPRING_TOOL_NAME)) or span.name.removeprefix(_PREFIX)
    found |= content(attributes, arguments=(names.SPRING_TOOL_ARGUMENTS,), result=(names.SPRING_TOOL_RESULT,))
    return found


SPRING_AI: Final = Dialect(
    name="spring_ai",
    markers=frozenset({names.SPRING_KIND}),
    scopes=frozenset({names.SPRING_SCOPE}),
    role=_role,
    fields=_fields,
)
