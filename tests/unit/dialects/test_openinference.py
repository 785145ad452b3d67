from __future__ import annotations

import json

import pytest

from otel_processor.model import NOTHING, RequestedCall, Role
from tests.unit.dialects.spans import read

TOOL = {"openinference.span.kind": "TOOL", "tool.name": "search"}
LLM = {"openinference.span.kind": "LLM", "llm.model_name": "m-1"}


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("TOOL", Role.TOOL),
        ("LLM", Role.MODEL),
        ("AGENT", Role.AGENT),
        ("CHAIN", Role.OTHER),
        ("RETRIEVER", Role.OTHER),
        ("llm", Role.MODEL),
    ],
)
def test_kind_says_what_the_span_is(kind: str, role: Role) -> None:
    assert read({"openinference.span.kind": kind}).role is role


def test_a_tool_call_is_read_whole() -> None:
    reading = read(
        TOOL
        | {
            "tool.call_id": "c1",
            "tool.parameters": '{"q": {"type": "string"}}',
            "input.value": '{"q": "x"}',
            "output.value": "3 hits",
            "session.id": "s-7",
        }
    )
    assert (reading.role, reading.dialect, reading.tool, reading.call_id) == (Role.TOOL, "openinference", "search", "c1")
    assert (reading.arguments, reading.result, reading.conversation_id) == ({"q": "x"}, "3 hits", "s-7")


def test_the_schema_of_a_tool_is_never_taken_for_arguments() -> None:
    assert read(TOOL | {"tool.parameters": '{"q": "x"}'}).arguments is None


def test_a_single_text_argument_stays_text() -> None:
    assert read(TOOL | {"input.value": "Paris"}).arguments == "Paris"


@pytest.mark.parametrize("name", ["search.__call__", "search.run", "search"])
def test_a_tool_without_name_is_called_like_its_span(name: str) -> None:
    assert read({"openinference.span.kind": "TOOL"}, name=name).tool == "search"


def test_a_model_call_is_read_whole() -> None:
    message = "llm.output_messages.0.message."
    reading = read(
        LLM
        | {
            "llm.provider": "acme",
            "llm.token_count.prompt": 100,
            "llm.token_count.completion": 20,
            "llm.token_count.prompt_details.cache_read": 50,
            "llm.token_count.prompt_details.cache_write": 8,
            "llm.token_count.completion_details.reasoning": 7,
            "llm.cost.total": "0.5",
            "llm.finish_reason": "stop",
            message + "role": "assistant",
            message + "contents.0.message_content.type": "reasoning",
            message + "contents.0.message_content.text": "look it up",
            message + "contents.3.message_content.type": "text",
            message + "contents.3.message_content.text": "One moment.",
            message + "contents.4.message_content.type": "tool_use",
            message + "contents.4.tool_call.id": "c1",
            message + "tool_calls.2.tool_call.id": "c1",
            message + "tool_calls.2.tool_call.function.name": "search",
            message + "tool_calls.2.tool_call.function.arguments": '{"q": "x"}',
        }
    )
    assert (reading.role, reading.model, reading.provider) == (Role.MODEL, "m-1", "acme")
    assert (reading.input_tokens, reading.output_tokens, reading.reasoning_tokens) == (100, 20, 7)
    assert (reading.cache_read_tokens, reading.cache_write_tokens, reading.cost_usd) == (50, 8, 0.5)
    assert (reading.text, reading.reasoning) == ("One moment.", "look it up")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)
    assert reading.finish_reason == "tool_calls"


def test_messages_come_in_the_order_of_their_indexes() -> None:
    prefix = "llm.output_messages."
    assert read(
        LLM | {f"{prefix}10.message.content": "c", f"{prefix}2.message.content": "b", f"{prefix}0.message.content": "a"}
    ).text == ("a\nb\nc")


def test_claude_agent_sdk_content_lists() -> None:
    assert read(LLM | {"llm.output_messages.0.message.content.0": "hello"}).text == "hello"


def test_messages_of_others_are_not_what_the_model_said() -> None:
    prefix = "llm.output_messages."
    flat = {f"{prefix}0.message.role": "tool", f"{prefix}0.message.content": "18C", f"{prefix}1.message.content": "hello"}
    assert read(LLM | flat).text == "hello"


def test_plain_output_stands_in_for_messages() -> None:
    assert read(LLM | {"output.value": "hello", "output.mime_type": "text/plain"}).text == "hello"
    assert read(LLM | {"output.value": '{"id": 1}', "output.mime_type": "application/json"}).text is None


def test_langchain_metadata_names_agent_and_conversation() -> None:
    metadata = json.dumps({"lc_agent_name": "finder", "thread_id": "t-42"})
    reading = read(TOOL | {"metadata": metadata})
    assert (reading.agent, reading.conversation_id) == ("finder", "t-42")


def test_the_graph_node_names_agents_only() -> None:
    assert read({"openinference.span.kind": "AGENT", "graph.node.name": "finder"}).agent == "finder"
    assert read(TOOL | {"graph.node.name": "search"}).agent is None


def test_what_the_framework_wrote_goes_before_what_the_processor_added() -> None:
    reading = read(
        LLM
        | {
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"}]}]',
            "llm.output_messages.0.message.content": "hm",
            "llm.cost.total": 0.5,
        }
    )
    assert (reading.text, reading.reasoning, reading.cost_usd) == (None, "hm", 0.5)


def test_an_agent_is_no_model_call_though_it_carries_tokens() -> None:
    reading = read(LLM | {"gen_ai.operation.name": "invoke_agent", "llm.token_count.prompt": 5}, name="invoke_agent finder")
    assert (reading.role, reading.agent) == (Role.AGENT, "finder")


def test_a_chain_that_says_nothing_more_is_nothing() -> None:
    assert read({"openinference.span.kind": "CHAIN", "input.value": "x"}) is NOTHING


@pytest.mark.parametrize("key", ["gen_ai.span.kind", "gen_ai.span_kind_name"])
def test_others_write_the_kind_under_another_name(key: str) -> None:
    tool = read({key: "TOOL", "tool.name": "search", "input.value": '{"q": 1}', "output.value": "hit"})
    assert (tool.role, tool.tool, tool.arguments, tool.result) == (Role.TOOL, "search", {"q": 1}, "hit")
    assert read({key: "agent"}, name="finder").role is Role.AGENT
    assert read({key: "TOOL", "gen_ai.operation.name": "chat"}).role is Role.MODEL


@pytest.mark.parametrize(
    ("metadata", "role"),
    [
        ({"lc_agent_name": "boss"}, Role.AGENT),
        ({"lc_agent_name": "boss", "langgraph_node": "model"}, Role.OTHER),
        ({"other": "boss"}, Role.OTHER),
    ],
)
def test_an_agent_of_langchain_is_a_chain_outside_its_own_graph(metadata: dict[str, str], role: Role) -> None:
    reading = read({"openinference.span.kind": "CHAIN", "metadata": json.dumps(metadata)}, name="boss")
    assert reading.role is role
    assert (reading.agent == "boss") == ("lc_agent_name" in metadata)
