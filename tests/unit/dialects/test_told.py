from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from otel_processor.dialects.reader import DIALECTS, told_by
from otel_processor.dialects.told import told_in_messages
from otel_processor.model import Told
from tests.unit.dialects.spans import event, span
from tests.unit.dialects.test_reader import attribute_maps, events, values

ASKED = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": "{}"}}]}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "3 hits"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": "3 hits"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "3 hits"},
        {"role": "tool", "id": "c1", "content": "3 hits"},
        {"type": "function_call_output", "call_id": "c1", "output": "3 hits"},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "3 hits"}]}],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "3 hits"}]}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "response": {"output": "3 hits"}}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "output": "3 hits"}]},
    ],
)
def test_a_result_in_the_shape_of_each_provider(message: dict[str, Any]) -> None:
    assert told_in_messages([ASKED, message]) == (Told("c1", result="3 hits"),)
    assert told_in_messages(json.dumps([ASKED, message])) == (Told("c1", result="3 hits"),)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no backend", "is_error": True}]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no backend"}]}}],
        },
        {"role": "tool", "content": [{"tool_call_result": {"result": "no backend", "origin": {"id": "c1"}, "error": True}}]},
    ],
)
def test_a_failure(message: dict[str, Any]) -> None:
    assert told_in_messages([message]) == (Told("c1", result="no backend", is_error=True),)


def test_a_result_with_the_shape_of_a_failure() -> None:
    told = told_in_messages([{"role": "tool", "tool_call_id": "c1", "content": '{"status": "error"}'}])
    assert told == (Told("c1", result={"status": "error"}, is_error=True),)


def test_only_what_is_new_is_told() -> None:
    old = {"role": "tool", "tool_call_id": "c0", "content": "old"}
    new = [{"role": "tool", "tool_call_id": f"c{number}", "content": f"{number}"} for number in (1, 2)]
    assert [told.call_id for told in told_in_messages([ASKED, old, ASKED, *new])] == ["c1", "c2"]
    assert told_in_messages([ASKED, old, ASKED]) == ()


def test_a_result_without_content_tells_nothing() -> None:
    assert told_in_messages([{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1"}]}]) == ()


def test_messages_of_a_model_call_only() -> None:
    messages = json.dumps([ASKED, {"role": "tool", "tool_call_id": "c1", "content": "3 hits"}])
    assert told_by(span(CHAT | {"gen_ai.input.messages": messages})) == (Told("c1", result="3 hits"),)
    assert told_by(span({"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": messages})) == ()
    details = event("gen_ai.client.inference.operation.details", gen_ai__input__messages=messages)
    assert told_by(span(CHAT, events=[details])) == (Told("c1", result="3 hits"),)
    assert told_by(span({"http.route": "/"})) == ()


@pytest.mark.parametrize(
    ("prefix", "kind"),
    [
        ("llm.input_messages.{}.message.", {"openinference.span.kind": "LLM"}),
        ("gen_ai.prompt.{}.", {"llm.request.type": "chat"}),
    ],
)
def test_flattened_messages(prefix: str, kind: dict[str, str]) -> None:
    attributes: dict[str, Any] = dict(kind)
    # As many as an agent has after a hundred turns, some of them lost.
    for number in range(0, 4_000, 2):
        attributes[prefix.format(number) + "role"] = "assistant"
    for number, call in ((4_001, "c1"), (4_003, "c2")):
        attributes |= {
            prefix.format(number) + "role": "tool",
            prefix.format(number) + "tool_call_id": call,
            prefix.format(number) + "content": f"result of {call}",
        }
    assert told_by(span(attributes)) == (Told("c1", result="result of c1"), Told("c2", result="result of c2"))


@given(values)
def test_no_messages_raise(value: Any) -> None:
    assert isinstance(told_in_messages(value), tuple)
    assert isinstance(told_in_messages([value]), tuple)


@given(attribute_maps, events)
def test_no_attributes_raise(attributes: dict[str, Any], some_events: list[Any]) -> None:
    for scope in ("", "haystack", "pydantic-ai", "gcp.vertex.agent", "codex_exec"):
        for name in ("x", "haystack.component.run", "tool_response", "claude_code.tool.execution"):
            a_span = span(attributes, scope=scope, name=name, events=some_events)
            assert isinstance(told_by(a_span), tuple)
            assert all(isinstance(dialect.told(a_span), tuple) for dialect in DIALECTS)
