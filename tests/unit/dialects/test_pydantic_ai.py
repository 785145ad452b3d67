from __future__ import annotations

import json
from typing import Any

from otel_processor.dialects.reader import told_by
from otel_processor.model import NOTHING, Reading, RequestedCall, Role, Told
from tests.unit.dialects.spans import exception, read, span

SCOPE = "pydantic-ai"
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}


def pydantic(attributes: dict[str, Any] | None = None, **fields: Any) -> Reading:
    return read(attributes, scope=SCOPE, **fields)


def test_names_of_before_operation_names() -> None:
    tool = pydantic(
        {"gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1", "tool_arguments": '{"q":"x"}', "tool_response": "3 hits"},
        name="running tool",
    )
    assert (tool.role, tool.dialect, tool.call_id) == (Role.TOOL, "pydantic_ai", "c1")
    assert (tool.arguments, tool.result) == ({"q": "x"}, "3 hits")
    root = pydantic({"agent_name": "finder", "model_name": "m-1", "gen_ai.usage.input_tokens": 5}, name="agent run")
    assert (root.role, root.agent, root.input_tokens) == (Role.AGENT, "finder", 5)
    assert pydantic({"tools": ["search"]}, name="running tools") is NOTHING


def test_names_of_today() -> None:
    tool = pydantic(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.call.arguments": '{"q":"x"}',
            "gen_ai.agent.name": "finder",
            "gen_ai.conversation.id": "conv",
        },
        name="execute_tool search",
        status="ERROR",
        events=[exception("pydantic_ai.exceptions.ToolRetryError", "no backend")],
    )
    assert (tool.role, tool.dialect, tool.agent, tool.conversation_id) == (Role.TOOL, "genai", "finder", "conv")
    assert (tool.arguments, tool.is_error, tool.error_message) == ({"q": "x"}, True, "no backend")
    root = pydantic({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder", "agent_name": "finder"})
    assert (root.role, root.agent) == (Role.AGENT, "finder")


def test_version_2_of_today_has_the_old_keys_and_an_operation() -> None:
    reading = pydantic(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "tool_arguments": '{"q":"x"}',
            "tool_response": "3 hits",
        },
        name="running tool",
    )
    assert (reading.role, reading.arguments, reading.result) == (Role.TOOL, {"q": "x"}, "3 hits")


EVENTS = [
    {"event.name": "gen_ai.user.message", "content": "hi", "role": "user"},
    {"event.name": "gen_ai.assistant.message", "role": "assistant", "tool_calls": [{"id": "c0"}]},
    {"event.name": "gen_ai.tool.message", "content": "3 hits", "role": "tool", "id": "c0", "name": "search"},
    {
        "event.name": "gen_ai.choice",
        "index": 0,
        "message": {
            "role": "assistant",
            "content": "One moment.",
            "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": '{"q":"x"}'}}],
        },
    },
]


def test_messages_written_as_one_attribute() -> None:
    reading = pydantic(CHAT | {"events": json.dumps(EVENTS), "gen_ai.usage.input_tokens": 9})
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)
    assert (reading.text, reading.input_tokens) == ("One moment.", 9)
    assert read(CHAT | {"events": json.dumps(EVENTS)}, scope="other").text is None


def test_results_are_told_to_the_next_model_call() -> None:
    told = told_by(span(CHAT | {"events": json.dumps(EVENTS)}, scope=SCOPE))
    assert told == (Told("c0", "search", result="3 hits"),)


def test_early_copies_of_logfire_are_no_calls() -> None:
    pending = CHAT | {"logfire.span_type": "pending_span"}
    assert pydantic(pending).role is Role.OTHER
    assert pydantic(CHAT | {"logfire.span_type": "span"}).role is Role.MODEL


def test_counts_that_logfire_calls_partial_are_not_counts() -> None:
    # Streamed messages of the Claude Agent SDK: the totals stand on the root.
    partial = {"gen_ai.usage.partial.input_tokens": 100, "gen_ai.usage.partial.output_tokens": 1}
    chat = read(CHAT | partial, scope="logfire.claude_agent_sdk")
    assert (chat.input_tokens, chat.output_tokens) == (None, None)
    totals = {"gen_ai.usage.input_tokens": 510, "gen_ai.usage.output_tokens": 100, "operation.cost": 0.002}
    root = read({"gen_ai.operation.name": "invoke_agent"} | totals, scope="logfire.claude_agent_sdk", name="invoke_agent")
    assert (root.input_tokens, root.output_tokens, root.cost_usd) == (510, 100, 0.002)
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Read", "error.type": "File does not exist."}
    failed = read(tool, scope="logfire.claude_agent_sdk", status="ERROR")
    assert (failed.is_error, failed.error_type, failed.error_message) == (True, None, "File does not exist.")
