"""AutoGen: its tool spans hold neither arguments nor results, but the messages on its bus do, see `told_by`.

Source: autogen-core `_telemetry/_tracing_config.py`, `_telemetry/_genai.py`; autogen-agentchat `messages.py`
(`ToolCallRequestEvent`, `ToolCallExecutionEvent`). One run is many traces.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.told import told_result
from otel_processor.dialects.values import decode, decode_structure, first_word, word
from otel_processor.model import Role, SpanFacts, Told

_REQUEST: Final = "ToolCallRequestEvent"
_EXECUTION: Final = "ToolCallExecutionEvent"


def _no_role(_span: SpanFacts) -> Role | None:
    return None


def _no_fields(_span: SpanFacts, _role: Role) -> Fields:
    return {}


def _told(span: SpanFacts) -> tuple[Told, ...]:
    """The calls in a message that an agent of a group was handed."""
    payload = decode_structure(span.attributes.get(names.EVENT_MESSAGE))
    message = payload.get("message") if isinstance(payload, dict) else None
    if not isinstance(message, dict) or message.get("type") not in {_REQUEST, _EXECUTION}:
        return ()
    asked = message["type"] == _REQUEST
    items = message.get("content")
    return tuple(_call(item, asked=asked) for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))


def _call(item: dict[str, Any], *, asked: bool) -> Told:
    tool = word(item.get("name"))
    if asked:
        return Told(first_word(item, ("id",)), tool, arguments=decode(item.get("arguments")))
    return told_result(first_word(item, ("call_id",)), tool, item.get("content"), failed=item.get("is_error") is True)


AUTOGEN: Final = Dialect(
    name="autogen",
    markers=frozenset({names.AUTOGEN_RECIPIENT_CLASS}),
    role=_no_role,
    fields=_no_fields,
    told=_told,
)
