from __future__ import annotations

import json

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import read

CHAT = {
    "gen_ai.sdk.version": "1.45.0",
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "m-1",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
}
TOOL = {
    "gen_ai.sdk.version": "1.45.0",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "search",
    "gen_ai.tool.call.id": "c1",
}


def test_a_root() -> None:
    root = {"gen_ai.sdk.version": "1.45.0", "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "my_task"}
    reading = read(root | {"gen_ai.conversation.id": "t-42"})
    assert (reading.role, reading.agent, reading.conversation_id) == (Role.WORKFLOW, "my_task", "t-42")


def test_a_model_call_is_read_whole() -> None:
    call = {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "x"}}
    messages = json.dumps([{"role": "assistant", "parts": [call], "finish_reason": "tool_call"}])
    reading = read(
        CHAT
        | {
            "gen_ai.usage.prompt_tokens_details.cached_tokens": 50,
            "gen_ai.usage.completion_tokens_details.reasoning_tokens": 7,
            "gen_ai.usage.cost": 0.5,
            "gen_ai.tool.name": "search",
            "gen_ai.output.messages": messages,
            "gen_ai.content.reasoning": "look it up",
        }
    )
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "openlit", "m-1", "openai")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.reasoning_tokens) == (100, 20, 50, 7)
    assert (reading.cost_usd, reading.reasoning, reading.finish_reason) == (0.5, "look it up", "tool_calls")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_a_cost_of_nothing_is_no_cost() -> None:
    assert read(CHAT | {"gen_ai.usage.cost": 0}).cost_usd is None


@pytest.mark.parametrize(
    ("provider", "tokens"),
    [("openai", (100, 20)), ("anthropic", (158, 20)), ("aws.bedrock", (158, 20)), ("gcp.gemini", (100, 27))],
)
def test_what_a_provider_counts_apart_is_added(provider: str, tokens: tuple[int, int]) -> None:
    cached = {"gen_ai.usage.cache_read.input_tokens": 50, "gen_ai.usage.cache_creation.input_tokens": 8}
    reading = read(CHAT | cached | {"gen_ai.provider.name": provider, "gen_ai.usage.reasoning_tokens": 7})
    assert (reading.input_tokens, reading.output_tokens) == tokens


def test_a_tool_call_is_read_whole() -> None:
    content = {
        "gen_ai.tool.call.arguments": "{'q': 'x'}",
        "gen_ai.tool.call.result": "content='3 hits' name='search' tool_call_id='c1'",
    }
    reading = read(TOOL | content)
    assert (reading.role, reading.tool, reading.call_id, reading.arguments, reading.result) == (
        Role.TOOL,
        "search",
        "c1",
        {"q": "x"},
        "3 hits",
    )


def test_a_failed_tool_call() -> None:
    reading = read(TOOL | {"error.type": "ValueError"}, status="ERROR", status_message="no backend")
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "ValueError", "no backend")
