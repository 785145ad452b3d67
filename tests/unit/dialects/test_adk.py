from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.dialects.reader import told_by
from otel_processor.model import NOTHING, Reading, RequestedCall, Role, Told
from tests.unit.dialects.spans import exception, read, span

SCOPE = "gcp.vertex.agent"
ARGUMENTS = "gcp.vertex.agent.tool_call_args"
RESPONSE = "gcp.vertex.agent.tool_response"
ANSWER = {
    "content": {
        "parts": [
            {"text": "look it up", "thought": True},
            {"text": "One moment."},
            {"function_call": {"id": "c1", "name": "search", "args": {"q": "x"}}},
        ],
        "role": "model",
    },
    "finish_reason": "STOP",
    "usage_metadata": {
        "prompt_token_count": 100,
        "tool_use_prompt_token_count": 9,
        "candidates_token_count": 20,
        "thoughts_token_count": 7,
        "cached_content_token_count": 50,
    },
}


def adk(attributes: dict[str, Any] | None = None, **fields: Any) -> Reading:
    return read(attributes, scope=SCOPE, **fields)


def test_the_tree_of_the_first_versions() -> None:
    assert adk(name="invocation").role is Role.WORKFLOW
    assert adk(name="invocation").agent is None
    agent = adk(name="agent_run [finder]")
    assert (agent.role, agent.agent, agent.dialect) == (Role.AGENT, "finder", "adk")
    tool = adk({"gen_ai.system": SCOPE, ARGUMENTS: '{"q": "x"}'}, name="tool_call [search]")
    assert (tool.role, tool.tool, tool.arguments, tool.result) == (Role.TOOL, "search", {"q": "x"}, None)
    assert adk(name="send_data") is NOTHING
    assert read(name="agent_run [finder]") is NOTHING


def test_no_arguments_are_known_arguments_where_content_is_always_recorded() -> None:
    assert adk({ARGUMENTS: "{}"}, name="tool_call [now]").arguments == {}


def test_a_tool_that_raised() -> None:
    reading = adk(
        {ARGUMENTS: '{"q": "x"}'},
        name="tool_call [search]",
        status="ERROR",
        status_message="ValueError: no backend",
        events=[exception("ValueError", "no backend")],
    )
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "ValueError", "no backend")


def test_a_tool_that_raised_before_it_was_described_has_its_name_only() -> None:
    reading = adk(name="execute_tool search", status="ERROR", events=[exception("ValueError", "no backend")])
    assert (reading.role, reading.tool, reading.arguments, reading.is_error) == (Role.TOOL, "search", None, True)


def test_a_model_call_holds_the_whole_answer() -> None:
    reading = adk(
        {
            "gen_ai.system": SCOPE,
            "gen_ai.request.model": "m-1",
            "gcp.vertex.agent.session_id": "conv",
            "gcp.vertex.agent.llm_response": json.dumps(ANSWER),
            # 1.14 leaves the thoughts out.
            "gen_ai.usage.output_tokens": 20,
        },
        name="call_llm",
    )
    assert (reading.role, reading.model, reading.conversation_id) == (Role.MODEL, "m-1", "conv")
    assert (reading.input_tokens, reading.output_tokens) == (109, 27)
    assert (reading.cache_read_tokens, reading.reasoning_tokens) == (50, 7)
    assert (reading.text, reading.reasoning, reading.finish_reason) == ("One moment.", "look it up", "tool_calls")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


@pytest.mark.parametrize("answer", ["{}", "<not serializable>", "[1]", '{"content": 3, "usage_metadata": []}', 7, None])
def test_an_answer_that_was_not_recorded(answer: Any) -> None:
    reading = adk({"gen_ai.request.model": "m-1", "gcp.vertex.agent.llm_response": answer}, name="call_llm")
    assert (reading.role, reading.model, reading.text, reading.input_tokens) == (Role.MODEL, "m-1", None, None)


TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1"}


def test_content_attributes_of_schema_1() -> None:
    reading = adk(TOOL | {ARGUMENTS: '{"q": "x"}', RESPONSE: '{"hits": 3}'}, name="execute_tool search")
    assert (reading.role, reading.arguments, reading.result, reading.call_id) == (Role.TOOL, {"q": "x"}, {"hits": 3}, "c1")


def test_a_failure_that_was_returned() -> None:
    answer = json.dumps({"status": "error", "error_message": "no backend"})
    reading = adk(TOOL | {ARGUMENTS: "{}", RESPONSE: answer})
    assert (reading.is_error, reading.error_message) == (True, "no backend")


def test_placeholders_for_content_that_was_not_recorded() -> None:
    off = adk(TOOL | {ARGUMENTS: "{}", RESPONSE: "{}"})
    assert (off.arguments, off.result) == (None, None)
    raised = adk(TOOL | {ARGUMENTS: "{}", RESPONSE: '{"result": "<not specified>"}', "gen_ai.tool.call.id": "<not specified>"})
    assert (raised.arguments, raised.result, raised.call_id) == ({}, None, None)
    assert adk(TOOL | {ARGUMENTS: "N/A"}).arguments is None


def test_parallel_calls_are_told_once() -> None:
    merged = TOOL | {"gen_ai.tool.name": "(merged tools)", RESPONSE: '[{"id": "c1", "response": {}}]'}
    assert adk(merged, name="execute_tool (merged)").role is Role.OTHER
    assert adk(merged, name="execute_tool (merged tools)").role is Role.OTHER


def test_the_result_is_told_by_a_sibling() -> None:
    parts = [
        {"function_response": {"id": "c1", "name": "search", "response": {"hits": 3}}},
        {"function_response": {"id": "c2", "name": "fetch", "response": {"status": "error"}}},
        {"text": "no answer"},
    ]
    attributes = {RESPONSE: json.dumps({"content": {"parts": parts}}), "gcp.vertex.agent.llm_response": "{}"}
    sibling = span(attributes, scope=SCOPE, name="tool_response [search]")
    assert read(attributes, scope=SCOPE, name="tool_response [search]").role is Role.OTHER
    assert told_by(sibling) == (
        Told("c1", "search", result={"hits": 3}),
        Told("c2", "fetch", result={"status": "error"}, is_error=True),
    )


def test_openinference_wraps_what_a_tool_returned() -> None:
    reading = adk(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "search",
            "input.value": '{"q": "x"}',
            "output.value": '{"id": "c1", "name": "search", "response": {"hits": 3}}',
        },
        name="execute_tool search",
    )
    assert (reading.dialect, reading.result, reading.call_id) == ("openinference", {"hits": 3}, "c1")
