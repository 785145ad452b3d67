from __future__ import annotations

import json

import pytest

from otel_processor.model import NOTHING, RequestedCall, Role
from tests.unit.dialects.spans import event, exception, read

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1"}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
ANSWER = [
    {
        "role": "assistant",
        "parts": [
            {"type": "thinking", "content": "look it up"},
            {"type": "text", "content": "One moment."},
            {"type": "tool_call", "id": "c1", "name": "search", "arguments": '{"q":"x"}'},
        ],
        "finish_reason": "tool_use",
    }
]


@pytest.mark.parametrize(
    ("operation", "role"),
    [
        ("execute_tool", Role.TOOL),
        ("chat", Role.MODEL),
        ("generate_content", Role.MODEL),
        ("text_completion", Role.MODEL),
        ("invoke_agent", Role.AGENT),
        ("invoke_workflow", Role.WORKFLOW),
        ("create_agent", Role.OTHER),
        ("embeddings", Role.OTHER),
        ("retrieval", Role.OTHER),
        ("agent_step", Role.OTHER),
        ("something_new", Role.OTHER),
    ],
)
def test_operation_name_says_what_the_span_is(operation: str, role: Role) -> None:
    assert read({"gen_ai.operation.name": operation, "gen_ai.request.model": "m-1"}).role is role


def test_a_tool_call_is_read_whole() -> None:
    reading = read(
        TOOL
        | {
            "gen_ai.tool.call.arguments": '{"q": "x"}',
            "gen_ai.tool.call.result": '{"hits": 3}',
            "gen_ai.agent.name": "finder",
            "gen_ai.conversation.id": "conv",
        }
    )
    assert (reading.role, reading.dialect, reading.tool, reading.call_id) == (Role.TOOL, "genai", "search", "c1")
    assert (reading.arguments, reading.result) == ({"q": "x"}, {"hits": 3})
    assert (reading.agent, reading.conversation_id, reading.is_error) == ("finder", "conv", False)


def test_structured_attributes_read_like_json_text() -> None:
    as_text = read(TOOL | {"gen_ai.tool.call.arguments": '{"q":["x",null]}', "gen_ai.tool.call.result": '[{"n":1},{"n":2}]'})
    as_values = read(TOOL | {"gen_ai.tool.call.arguments": {"q": ("x", None)}, "gen_ai.tool.call.result": ({"n": 1}, {"n": 2})})
    assert as_text == as_values


def test_content_that_was_not_recorded_is_unknown() -> None:
    reading = read(TOOL)
    assert reading.arguments is None
    assert reading.result is None


def test_an_empty_result_and_a_null_result_are_results() -> None:
    assert read(TOOL | {"gen_ai.tool.call.result": ""}).result == ""
    assert read(TOOL | {"gen_ai.tool.call.result": "null"}).result == "null"


def test_no_arguments_are_known_arguments() -> None:
    assert read(TOOL | {"gen_ai.tool.call.arguments": "{}"}).arguments == {}
    assert read(TOOL | {"gen_ai.tool.call.arguments": "null"}).arguments == {}


def test_arguments_encoded_twice_are_decoded_twice() -> None:
    assert read(TOOL | {"gen_ai.tool.call.arguments": json.dumps('{"q": "x"}')}).arguments == {"q": "x"}


def test_placeholders_are_absent() -> None:
    reading = read(TOOL | {"gen_ai.tool.call.id": "<not specified>", "gen_ai.agent.name": "OpenAI Agent"})
    assert reading.call_id is None
    assert reading.agent is None
    assert read(CHAT | {"gen_ai.request.model": "unknown", "gen_ai.response.model": "m-2"}).model == "m-2"
    assert read({"gen_ai.operation.name": "unknown", "gen_ai.agent.name": "a"}).role is Role.OTHER


def test_a_model_call_is_read_whole() -> None:
    reading = read(
        CHAT
        | {
            "gen_ai.provider.name": "acme",
            "gen_ai.response.model": "m-1-2030",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": "20",
            "gen_ai.usage.cache_read.input_tokens": 50,
            "gen_ai.usage.cache_creation.input_tokens": 8,
            "gen_ai.usage.reasoning.output_tokens": 7,
            "operation.cost": 0.25,
            "gen_ai.response.finish_reasons": ["tool_call"],
            "gen_ai.output.messages": json.dumps(ANSWER),
        }
    )
    assert (reading.role, reading.model, reading.provider) == (Role.MODEL, "m-1-2030", "acme")
    assert (reading.input_tokens, reading.output_tokens, reading.reasoning_tokens) == (100, 20, 7)
    assert (reading.cache_read_tokens, reading.cache_write_tokens, reading.cost_usd) == (50, 8, 0.25)
    assert (reading.finish_reason, reading.text, reading.reasoning) == ("tool_calls", "One moment.", "look it up")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_old_names_of_token_counts() -> None:
    reading = read(CHAT | {"gen_ai.usage.prompt_tokens": 9, "gen_ai.usage.completion_tokens": 4, "gen_ai.system": "acme"})
    assert (reading.input_tokens, reading.output_tokens, reading.provider) == (9, 4, "acme")


def test_cached_tokens_counted_apart_are_added_to_the_input() -> None:
    apart = CHAT | {"gen_ai.usage.input_tokens": 12, "gen_ai.usage.cache_read.input_tokens": 5000}
    assert read(apart).input_tokens == 5012
    assert read(apart | {"gen_ai.usage.input_tokens": 6000}).input_tokens == 6000


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"gen_ai.response.finish_reasons": ["stop"]}, "stop"),
        ({"gen_ai.response.finish_reasons": ("end_turn",)}, "stop"),
        ({"gen_ai.response.finish_reasons": '["tool-calls"]'}, "tool_calls"),
        ({"gen_ai.response.finish_reason": "FinishReason.TOOL_CALLS"}, "tool_calls"),
        ({"gen_ai.response.finish_reason": "MAX_TOKENS"}, "length"),
        ({"anthropic.message.stop_reason": "tool_use"}, "tool_calls"),
        ({"gen_ai.response.finish_reasons": ["content-filter"]}, "content_filter"),
        ({"gen_ai.response.finish_reasons": ["TOOL_EXECUTION"]}, "tool_calls"),
        ({"gen_ai.response.finish_reasons": ["toolUse"]}, "tool_calls"),
        ({"gen_ai.response.finish_reasons": ["MaxTokens"]}, "length"),
        ({"gen_ai.response.finish_reasons": ["FINISH_REASON_STOP"]}, "stop"),
        ({"gen_ai.response.finish_reasons": ["FinishReason.STOP"]}, "stop"),
        ({"gen_ai.response.finish_reasons": ["COMPLETE"]}, "stop"),
        ({"gen_ai.response.finish_reasons": ["RECITATION"]}, "content_filter"),
        ({"gen_ai.output.messages": json.dumps(ANSWER)}, "tool_calls"),
        ({"gen_ai.response.finish_reasons": ["stop"], "gen_ai.output.messages": json.dumps(ANSWER)}, "tool_calls"),
        ({"gen_ai.response.finish_reasons": []}, None),
        ({"gen_ai.response.finish_reasons": 7.5}, None),
    ],
)
def test_finish_reasons(attributes: dict[str, object], reason: str | None) -> None:
    assert read(CHAT | attributes).finish_reason == reason


def test_choice_events_hold_the_answer() -> None:
    blocks = [
        {"reasoningContent": {"reasoningText": {"text": "hm"}}},
        {"text": "Let me see."},
        {"toolUse": {"toolUseId": "c1", "name": "search", "input": {"q": "x"}}},
    ]
    reading = read(CHAT, events=[event("gen_ai.choice", message=json.dumps(blocks), finish_reason="tool_use")])
    assert (reading.text, reading.reasoning, reading.finish_reason) == ("Let me see.", "hm", "tool_calls")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


@pytest.mark.parametrize(
    "the_event",
    [
        event("gen_ai.choice", message='{"role":"assistant","content":"hello"}'),
        event("gen_ai.choice", message="hello"),
        event("gen_ai.content.completion", gen_ai__completion='[{"role":"assistant","content":"hello"}]'),
        event(
            "gen_ai.client.inference.operation.details",
            gen_ai__output__messages='[{"role":"assistant","parts":[{"type":"text","content":"hello"}]}]',
        ),
    ],
)
def test_every_vintage_of_content_events(the_event: object) -> None:
    assert read(CHAT, events=[the_event]).text == "hello"


def test_old_attribute_with_the_answer() -> None:
    assert read(CHAT | {"gen_ai.completion": '[{"role": "assistant", "content": "hello"}]'}).text == "hello"


def test_tool_events_hold_arguments_and_result() -> None:
    events = [event("gen_ai.tool.message", content='{"q": "x"}'), event("gen_ai.choice", message='[{"text": "3 hits"}]')]
    reading = read(TOOL, events=events)
    assert (reading.arguments, reading.result) == ({"q": "x"}, "3 hits")


def test_details_events_hold_arguments_and_result() -> None:
    asked = [{"role": "tool", "parts": [{"type": "tool_call", "name": "search", "arguments": {"q": "x"}}]}]
    told = [{"role": "tool", "parts": [{"type": "tool_call_response", "response": [{"text": "3 hits"}]}]}]
    details = "gen_ai.client.inference.operation.details"
    events = [
        event(details, gen_ai__input__messages=json.dumps(asked)),
        event(details, gen_ai__output__messages=json.dumps(told)),
    ]
    reading = read(TOOL, events=events)
    assert (reading.arguments, reading.result) == ({"q": "x"}, "3 hits")


def test_roots_prefer_their_own_totals() -> None:
    reading = read(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.aggregated_usage.input_tokens": 30, "gen_ai.usage.input_tokens": 9}
    )
    assert reading.input_tokens == 30


@pytest.mark.parametrize(
    ("attributes", "name", "agent"),
    [
        ({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder"}, "x", "finder"),
        ({"gen_ai.operation.name": "invoke_agent"}, "invoke_agent finder", "finder"),
        ({"gen_ai.operation.name": "invoke_agent"}, "crew.workflow", "crew"),
        ({"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "w", "gen_ai.agent.name": "a"}, "x", "w"),
    ],
)
def test_roots_are_named(attributes: dict[str, str], name: str, agent: str) -> None:
    assert read(attributes, name=name).agent == agent


def test_mcp_tool_calls() -> None:
    call = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "search"}
    assert read(call, name="tools/call search").role is Role.TOOL
    assert read(call | TOOL, name="MCP send tools/call search").role is Role.OTHER
    assert read({"mcp.method.name": "tools/list"}) is NOTHING


@pytest.mark.parametrize(
    ("attributes", "name"),
    [(TOOL, "execute_tool (merged tools)"), (TOOL | {"logfire.span_type": "pending_span"}, "execute_tool search")],
)
def test_spans_that_tell_again_are_no_calls(attributes: dict[str, str], name: str) -> None:
    assert read(attributes, name=name).role is Role.OTHER


def test_a_model_name_without_a_kind_is_a_model_call() -> None:
    assert read({"gen_ai.request.model": "m-1"}).role is Role.MODEL
    assert read({"gen_ai.request.model": "m-1", "openinference.span.kind": "CHAIN"}).role is Role.OTHER


def test_own_status_attribute_tells_a_failure() -> None:
    reading = read(TOOL | {"gen_ai.tool.status": "error"}, status="OK", events=[exception("ValueError", "no backend")])
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "ValueError", "no backend")


@pytest.mark.parametrize("operation", ["responses", "llm_response"])
def test_operations_that_answer_are_model_calls(operation: str) -> None:
    assert read({"gen_ai.operation.name": operation, "gen_ai.usage.input_tokens": 5}).role is Role.MODEL


def test_parameters_of_a_function_are_the_arguments_of_a_tool() -> None:
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_weather",
        "code.function.parameters.city.type": "str",
        "code.function.parameters.city.value": "Oslo",
        "code.function.return.value": "4C",
    }
    reading = read(told)
    assert (reading.arguments, reading.result) == ({"city": "Oslo"}, "4C")
    # The conventions' own say it better.
    assert read(told | {"gen_ai.tool.call.arguments": '{"q": 1}'}).arguments == {"q": 1}


@pytest.mark.parametrize(("total", "counted"), [(1520, 1500), (1020, 1000), (None, 1000)])
def test_cached_tokens_are_input_also_where_the_total_shows_that_they_are_counted_beside(total: int | None, counted: int) -> None:
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read_input_tokens": 500,
    }
    assert read(told if total is None else told | {"gen_ai.usage.total_tokens": total}).input_tokens == counted


def test_a_framework_is_no_provider() -> None:
    told = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "langchain"}
    assert read(told | {"traceloop.association.properties.ls_provider": "openai"}).provider == "openai"
    assert read(told).provider == "langchain"


def test_the_label_of_a_request_is_no_agent() -> None:
    told = {"gen_ai.agent.name": "panel/editAgent", "copilot_chat.chat_session_id": "s-9"}
    assert read(told | {"gen_ai.operation.name": "chat"}).agent is None
    assert read(told | {"gen_ai.operation.name": "invoke_agent"}).agent == "panel/editAgent"
