from __future__ import annotations

import json

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import read

SCOPE = "livekit-agents"
OLD_TOOL = {"lk.function_tool.name": "search", "lk.function_tool.id": "c1", "lk.function_tool.arguments": '{"q": "x"}'}
TOOL = {
    "lk.function_tool.name": "search",
    "lk.function_tool.id": "c1",
    "lk.pii.function_tool.arguments": '{"q": "x"}',
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "search",
    "gen_ai.agent.name": "finder",
}
REQUEST = {"gen_ai.request.model": "m-1", "gen_ai.provider.name": "acme"}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("agent_session", Role.WORKFLOW),
        ("agent_turn", Role.AGENT),
        ("llm_node", Role.OTHER),
        ("llm_request", Role.MODEL),
        ("llm_request_run", Role.OTHER),
        ("tts_node", Role.OTHER),
    ],
)
def test_only_the_request_is_a_model_call(name: str, role: Role) -> None:
    assert read(REQUEST, name=name, scope=SCOPE).role is role


def test_the_operation_goes_before_the_name() -> None:
    assert read(REQUEST | {"gen_ai.operation.name": "chat"}, name="llm_node", scope=SCOPE).role is Role.MODEL
    assert read({"gen_ai.operation.name": "create_agent"}, name="start_agent_activity", scope=SCOPE).role is Role.OTHER


def test_a_root() -> None:
    reading = read({"lk.agent_label": "finder", "gen_ai.conversation.id": "s-7"}, name="agent_session", scope=SCOPE)
    assert (reading.role, reading.agent, reading.conversation_id) == (Role.WORKFLOW, "finder", "s-7")


def test_a_model_call_is_read_whole() -> None:
    call = {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "x"}}
    messages = json.dumps([{"role": "assistant", "parts": [call], "finish_reason": "tool_call"}])
    usage = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 50,
        "gen_ai.usage.reasoning.output_tokens": 7,
        "gen_ai.response.finish_reasons": ("tool_call",),
        "gen_ai.output.messages": messages,
    }
    reading = read(REQUEST | usage, name="llm_request", scope=SCOPE)
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "livekit", "m-1", "acme")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.reasoning_tokens) == (100, 20, 50, 7)
    assert reading.finish_reason == "tool_calls"
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


@pytest.mark.parametrize(
    "attributes", [TOOL | {"lk.pii.function_tool.output": "3 hits"}, OLD_TOOL | {"lk.function_tool.output": "3 hits"}]
)
def test_a_tool_call_is_read_whole(attributes: dict[str, str]) -> None:
    reading = read(attributes | {"lk.function_tool.is_error": False}, name="function_tool", scope=SCOPE)
    assert (reading.role, reading.dialect, reading.tool, reading.call_id) == (Role.TOOL, "livekit", "search", "c1")
    assert (reading.arguments, reading.result, reading.is_error) == ({"q": "x"}, "3 hits", False)


def test_a_failed_tool_call_is_told_by_a_flag() -> None:
    reading = read(OLD_TOOL | {"lk.function_tool.is_error": True, "lk.function_tool.output": "no backend"}, scope=SCOPE)
    assert (reading.is_error, reading.error_message) == (True, "no backend")
