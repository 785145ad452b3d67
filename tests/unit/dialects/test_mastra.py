from __future__ import annotations

import json

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import exception, read

CHAT = {"mastra.span.type": "model_inference", "gen_ai.operation.name": "chat", "mastra.metadata.threadId": "t-42"}
TOOL = {
    "mastra.span.type": "tool_call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "search",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.arguments": '{"q":"x"}',
    "mastra.metadata.sessionId": "s-7",
}


@pytest.mark.parametrize(
    ("kind", "operation", "role"),
    [
        ("agent_run", "invoke_agent", Role.AGENT),
        ("workflow_run", "invoke_workflow", Role.WORKFLOW),
        ("model_generation", "model_generation", Role.OTHER),
        ("model_generation", "chat", Role.MODEL),
        ("model_step", "agent_step", Role.OTHER),
        ("model_inference", "chat", Role.MODEL),
        ("model_chunk", "model_chunk", Role.OTHER),
        ("tool_call", "execute_tool", Role.TOOL),
        ("mcp_tool_call", "execute_tool", Role.TOOL),
        ("workflow_step", "workflow_step", Role.OTHER),
    ],
)
def test_one_span_stands_for_a_model_call(kind: str, operation: str, role: Role) -> None:
    assert read({"mastra.span.type": kind, "gen_ai.operation.name": operation}).role is role


def test_a_model_call_is_read_whole() -> None:
    reading = read(
        CHAT
        | {
            "gen_ai.request.model": "m-1",
            "gen_ai.provider.name": "acme",
            "gen_ai.agent.name": "finder",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.usage.cache_read.input_tokens": 50,
            "gen_ai.usage.reasoning_tokens": 7,
            "gen_ai.response.finish_reasons": '["tool-calls"]',
            "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"One moment."}]}]',
        }
    )
    assert (reading.role, reading.dialect, reading.model, reading.agent) == (Role.MODEL, "mastra", "m-1", "finder")
    assert (reading.input_tokens, reading.output_tokens) == (100, 20)
    assert (reading.cache_read_tokens, reading.reasoning_tokens, reading.conversation_id) == (50, 7, "t-42")
    assert (reading.text, reading.finish_reason) == ("One moment.", "tool_calls")


def test_an_answer_without_text_is_in_a_shape_of_its_own() -> None:
    output = {"reasoning": "look it up", "toolCalls": [{"toolCallId": "c1", "toolName": "search", "args": {"q": "x"}}]}
    reading = read(CHAT | {"gen_ai.output.messages": json.dumps(output)})
    assert (reading.text, reading.reasoning) == (None, "look it up")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_a_tool_call_is_read_whole() -> None:
    reading = read(TOOL | {"gen_ai.tool.call.result": '{"hits":3}'})
    assert (reading.role, reading.dialect, reading.tool, reading.call_id) == (Role.TOOL, "mastra", "search", "c1")
    assert (reading.arguments, reading.result, reading.conversation_id) == ({"q": "x"}, {"hits": 3}, "s-7")


def test_a_failed_tool_call() -> None:
    failed = {"error.type": "unknown", "error.message": "no backend"}
    reading = read(TOOL | failed, status="ERROR", events=[exception("Error", "no backend")])
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "Error", "no backend")
    assert read(TOOL | failed).error_message == "no backend"
