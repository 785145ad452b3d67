from __future__ import annotations

import json
from typing import Any

from otel_processor.dialects.reader import told_by
from otel_processor.model import Role, Told
from tests.unit.dialects.spans import exception, read, span

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1"}


def message(kind: str, content: Any) -> tuple[Told, ...]:
    payload = json.dumps({"message": {"type": kind, "content": content, "source": "finder"}})
    return told_by(span({"recipient_agent_class": "RoundRobinGroupChatManager", "message": payload}))


def test_a_tool_span_has_neither_arguments_nor_result() -> None:
    reading = read(TOOL | {"gen_ai.system": "autogen"})
    assert (reading.role, reading.tool, reading.call_id, reading.arguments) == (Role.TOOL, "search", "c1", None)
    failed = read(TOOL, status="ERROR", events=[exception("ValueError", "no backend")])
    assert (failed.is_error, failed.error_message) == (True, "no backend")


def test_the_messages_on_the_bus_have_them() -> None:
    asked = message("ToolCallRequestEvent", [{"id": "c1", "name": "search", "arguments": '{"q":"x"}'}])
    assert asked == (Told("c1", "search", {"q": "x"}),)
    results = [
        {"call_id": "c1", "name": "search", "content": "3 hits", "is_error": False},
        {"call_id": "c2", "name": "search", "content": "no backend", "is_error": True},
    ]
    assert message("ToolCallExecutionEvent", results) == (
        Told("c1", "search", result="3 hits"),
        Told("c2", "search", result="no backend", is_error=True),
    )
    assert message("TextMessage", "hello") == ()
    assert read({"recipient_agent_class": "Manager", "message": "{}"}).role is Role.OTHER
