from __future__ import annotations

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import exception, read

TOOL = {"agentops.span.kind": "tool", "operation.name": "search", "agentops.tool.input": '{"args": [], "kwargs": {"q": "x"}}'}
CHAT = {"gen_ai.request.type": "chat", "gen_ai.system": "OpenAI", "gen_ai.request.model": "m-1"}


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("session", Role.WORKFLOW),
        ("workflow", Role.WORKFLOW),
        ("agent", Role.AGENT),
        ("task", Role.OTHER),
        ("operation", Role.OTHER),
        ("tool", Role.TOOL),
        ("tool.usage", Role.TOOL),
        ("llm", Role.MODEL),
        ("http", Role.OTHER),
    ],
)
def test_kind_says_what_the_span_is(kind: str, role: Role) -> None:
    assert read({"agentops.span.kind": kind}).role is role


def test_a_root() -> None:
    reading = read({"agentops.span.kind": "session", "operation.name": "my_task"}, name="my_task.session")
    assert (reading.role, reading.agent, reading.is_error) == (Role.WORKFLOW, "my_task", False)
    assert read({"agentops.span.kind": "agent"}, name="finder.agent").agent == "finder"
    assert read({"agentops.span.kind": "session", "agentops.session.end_state": "Error"}).is_error


def test_a_model_call_is_read_whole() -> None:
    call = "gen_ai.completion.0.tool_calls.0."
    reading = read(
        CHAT
        | {
            "gen_ai.response.model": "m-1-0815",
            "gen_ai.usage.prompt_tokens": 100,
            "gen_ai.usage.completion_tokens": 20,
            "gen_ai.usage.cache_read_input_tokens": 50,
            "gen_ai.usage.reasoning_tokens": 7,
            "gen_ai.usage.total_cost": 0.5,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "One moment.",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            call + "id": "c1",
            call + "name": "search",
            call + "arguments": '{"q":"x"}',
        },
        name="openai.chat.completion",
    )
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "agentops", "m-1-0815", "OpenAI")
    assert (reading.input_tokens, reading.output_tokens) == (100, 20)
    assert (reading.cache_read_tokens, reading.reasoning_tokens, reading.cost_usd) == (50, 7, 0.5)
    assert (reading.text, reading.finish_reason) == ("One moment.", "tool_calls")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_an_embedding_is_no_model_call() -> None:
    assert read(CHAT | {"gen_ai.request.type": "embedding"}).role is Role.OTHER


def test_a_tool_call_of_the_decorator_is_read_whole() -> None:
    reading = read(TOOL | {"agentops.tool.output": '{"hits": 3}'}, name="search.tool")
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, "search", {"q": "x"}, {"hits": 3})


def test_a_tool_call_of_an_instrumentation_is_read_whole() -> None:
    told = {"tool.name": "search", "tool.parameters": "{'q': 'x'}", "tool.result": "3 hits", "agent.name": "finder"}
    reading = read({"agentops.span.kind": "tool"} | told, name="search.tool")
    assert (reading.tool, reading.arguments, reading.result, reading.agent) == ("search", {"q": "x"}, "3 hits", "finder")


def test_what_a_model_asked_for_is_no_tool_call() -> None:
    asked = {"tool.name": "search", "tool.parameters": '{"q":"x"}', "tool.call.id": "c1", "tool.call.type": "function"}
    assert read({"agentops.span.kind": "AgentOpsSpanKindValues.TOOL"} | asked, name="tool_call.search").role is Role.OTHER
    assert read({"agentops.span.kind": "tool"} | asked).role is Role.OTHER


def test_a_failed_tool_call() -> None:
    assert read(TOOL | {"tool.status": "failed"}).is_error
    reading = read(TOOL, status="ERROR", events=[exception("ValueError", "no backend")])
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "ValueError", "no backend")
