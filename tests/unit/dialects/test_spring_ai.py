from __future__ import annotations

import pytest

from otel_processor.model import Role
from tests.unit.dialects.spans import event, exception, read

SCOPE = "org.springframework.boot"
TOOL = {"spring.ai.kind": "tool_call", "gen_ai.operation.name": "framework", "spring.ai.tool.definition.name": "search"}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.system": "acme", "gen_ai.request.model": "m-1"}


@pytest.mark.parametrize(
    ("kind", "role"),
    [("tool_call", Role.TOOL), ("chat_client", Role.AGENT), ("advisor", Role.OTHER), ("vector_store", Role.OTHER)],
)
def test_kind_says_what_the_span_is(kind: str, role: Role) -> None:
    assert read({"spring.ai.kind": kind, "gen_ai.operation.name": "framework"}).role is role


def test_a_root() -> None:
    client = {"spring.ai.kind": "chat_client", "gen_ai.system": "spring_ai", "spring.ai.chat.client.conversation.id": "s-7"}
    reading = read(client, name="spring_ai chat_client")
    assert (reading.role, reading.agent, reading.conversation_id) == (Role.AGENT, "spring_ai chat_client", "s-7")
    assert read(client | {"spring.ai.chat.client.conversation.id": "none"}).conversation_id is None


def test_a_model_call_is_read_whole() -> None:
    usage = {"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "20", "gen_ai.usage.cache_read.input_tokens": "50"}
    reason = {"gen_ai.response.finish_reasons": '["TOOL_CALLS"]', "gen_ai.response.model": "m-1-0815"}
    reading = read(
        CHAT | usage | reason, scope=SCOPE, events=[event("gen_ai.content.completion", gen_ai__completion="One moment.")]
    )
    assert (reading.role, reading.model, reading.provider, reading.finish_reason) == (
        Role.MODEL,
        "m-1-0815",
        "acme",
        "tool_calls",
    )
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens) == (100, 20, 50)
    assert reading.text == "One moment."


def test_no_value_is_no_name() -> None:
    assert read(CHAT | {"gen_ai.response.model": "none"}, scope=SCOPE).model == "m-1"
    assert read(CHAT | {"gen_ai.response.model": "none", "gen_ai.request.model": "none"}, scope=SCOPE).model is None


def test_a_tool_call_is_read_whole() -> None:
    content = {"spring.ai.tool.call.arguments": '{"q":"x"}', "spring.ai.tool.call.result": '{"hits":3}'}
    reading = read(TOOL | content, name="tool_call search")
    assert (reading.role, reading.dialect, reading.tool) == (Role.TOOL, "spring_ai", "search")
    assert (reading.arguments, reading.result) == ({"q": "x"}, {"hits": 3})
    assert read({"spring.ai.kind": "tool_call"}, name="tool_call search").tool == "search"


def test_a_failed_tool_call() -> None:
    reading = read(TOOL, status="ERROR", events=[exception("java.io.IOException", "no backend")])
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "java.io.IOException", "no backend")
