from __future__ import annotations

import json

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import read

TOOL = {"traceloop.span.kind": "tool", "traceloop.entity.name": "search"}
CHAT = {"llm.request.type": "chat", "gen_ai.request.model": "m-1", "gen_ai.system": "acme"}


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("tool", Role.TOOL),
        ("agent", Role.AGENT),
        ("workflow", Role.WORKFLOW),
        ("task", Role.OTHER),
        ("session", Role.OTHER),
        ("server", Role.OTHER),
    ],
)
def test_kind_says_what_the_span_is(kind: str, role: Role) -> None:
    assert read({"traceloop.span.kind": kind, "traceloop.entity.name": "x"}).role is role


def test_a_tool_call_is_read_whole() -> None:
    reading = read(
        TOOL
        | {
            "traceloop.entity.input": '{"args": [], "kwargs": {"q": "x"}}',
            "traceloop.entity.output": '"3 hits"',
            "traceloop.association.properties.session_id": "s-7",
            "gen_ai.agent.name": "finder",
        },
        name="search.tool",
    )
    assert (reading.role, reading.dialect, reading.tool) == (Role.TOOL, "traceloop", "search")
    assert (reading.arguments, reading.result) == ({"q": "x"}, "3 hits")
    assert (reading.agent, reading.conversation_id) == ("finder", "s-7")


def test_langchain_callbacks() -> None:
    asked = {
        "input_str": "{'q': 'x'}",
        "tags": ["seq:step:1"],
        "metadata": {"langgraph_step": 2},
        "inputs": {"q": "x"},
        "kwargs": {"tool_call_id": "c1"},
    }
    told = {
        "output": {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "ToolMessage"],
            "kwargs": {"content": "3 hits", "tool_call_id": "c1", "status": "success"},
        },
        "kwargs": {"color": "green"},
    }
    reading = read(TOOL | {"gen_ai.tool.call.arguments": json.dumps(asked), "gen_ai.tool.call.result": json.dumps(told)})
    assert (reading.arguments, reading.result, reading.call_id) == ({"q": "x"}, "3 hits", "c1")


def test_llamaindex_tools_are_tasks() -> None:
    output = {"tool_name": "search", "raw_input": {"kwargs": {"q": "x"}}, "raw_output": "3 hits", "is_error": False}
    reading = read(
        {
            "traceloop.span.kind": "task",
            "traceloop.entity.name": "FunctionTool.task",
            "traceloop.entity.input": '{"kwargs": {"q": "x"}}',
            "traceloop.entity.output": json.dumps(output),
        }
    )
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, "search", {"q": "x"}, "3 hits")


def test_old_flattened_model_call() -> None:
    reading = read(
        CHAT
        | {
            "gen_ai.response.model": "m-1-2030",
            "gen_ai.usage.prompt_tokens": 100,
            "gen_ai.usage.completion_tokens": 20,
            "gen_ai.usage.cache_read_input_tokens": 50,
            "gen_ai.prompt.0.content": "weather?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "One moment.",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.1.id": "c2",
            "gen_ai.completion.0.tool_calls.1.name": "open",
            "gen_ai.completion.0.tool_calls.1.arguments": "{}",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "search",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"q": "x"}',
        }
    )
    assert (reading.role, reading.dialect, reading.model) == (Role.MODEL, "traceloop", "m-1-2030")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens) == (100, 20, 50)
    assert (reading.text, reading.finish_reason) == ("One moment.", "tool_calls")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}), RequestedCall("c2", "open", {}))


def test_embeddings_are_no_calls() -> None:
    assert read(CHAT | {"llm.request.type": "embedding"}).role is Role.OTHER


def test_agents_and_workflows_are_named() -> None:
    assert read({"traceloop.span.kind": "workflow", "traceloop.workflow.name": "w"}, name="Agent Workflow").agent == "w"
    assert read({"traceloop.span.kind": "agent", "traceloop.entity.name": "a"}, name="a.agent").agent == "a"
    assert read({"traceloop.span.kind": "agent"}, name="finder.agent").agent == "finder"
