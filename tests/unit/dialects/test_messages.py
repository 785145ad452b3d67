from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.dialects.messages import MAX_PARTS, MAX_TEXT_CHARS, read_flat_messages, read_messages
from otel_processor.model import RequestedCall


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}],
        [{"role": "assistant", "content": "hello"}],
        [{"role": "assistant", "content": [{"type": "text", "text": "hello"}]}],
        {"role": "assistant", "content": "hello"},
        [{"index": 0, "message": {"role": "assistant", "content": "hello"}}],
        [{"text": "hello"}],
        [{"type": "text", "text": "hello"}],
        "hello",
        json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}]),
        [
            {"role": "user", "content": "no"},
            {"role": "tool", "parts": [{"type": "text", "content": "no"}]},
            {"role": "model", "content": "hello"},
        ],
    ],
)
def test_what_was_said(messages: Any) -> None:
    said = read_messages(messages)
    assert (said.text, said.reasoning, said.requested) == ("hello", None, ())


@pytest.mark.parametrize(
    "part",
    [
        {"type": "reasoning", "content": "hm"},
        {"type": "thinking", "content": "hm"},
        {"type": "thinking", "thinking": "hm"},
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "content": "hm", "thought": True},
        {"type": "reasoningContent", "content": {"reasoningText": {"text": "hm"}}},
        {"reasoningContent": {"reasoningText": {"text": "hm"}}},
    ],
)
def test_what_was_thought(part: dict[str, Any]) -> None:
    said = read_messages([{"role": "assistant", "parts": [part]}])
    assert (said.text, said.reasoning) == (None, "hm")


@pytest.mark.parametrize(
    "message",
    [
        {"parts": [{"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "x"}}]},
        {"parts": [{"type": "tool_call", "id": "c1", "name": "search", "arguments": '{"q":"x"}'}]},
        {"content": [{"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}}]},
        {"content": [{"toolUse": {"toolUseId": "c1", "name": "search", "input": {"q": "x"}}}]},
        {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"x"}'}}]},
        {"tool_calls": [{"id": "c1", "name": "search", "args": {"q": "x"}}]},
    ],
)
def test_what_was_asked_for(message: dict[str, Any]) -> None:
    assert read_messages([{"role": "assistant", **message}]).requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_calls_without_content_keep_their_name() -> None:
    assert read_messages([{"parts": [{"type": "tool_call", "id": "c1", "name": "search"}]}]).requested == (
        RequestedCall("c1", "search", None),
    )


def test_work_is_bounded() -> None:
    parts: list[Any] = [{"type": "text", "content": "x" * 30_000}] * 500 + [{"type": "tool_call", "name": "search"}] * 500
    said = read_messages([{"role": "assistant", "parts": parts}] * 500)
    assert len(said.text or "") == MAX_TEXT_CHARS
    assert len(said.requested) <= MAX_PARTS


@pytest.mark.parametrize(
    "messages", [None, 7, [], [None, 7, [[]]], [{"parts": 7}], {"parts": [None, 7]}, [{"tool_calls": [7, {}]}], "[", "{}"]
)
def test_anything_else_says_nothing_much(messages: Any) -> None:
    assert read_messages(messages).requested == ()


@pytest.mark.parametrize(
    "keys",
    [
        ["0"],
        ["0.message"],
        ["0.message.tool_calls.x.tool_call"],
        ["0", "0.message.role"],
        ["0.message.role", "0.message"],
        ["." * 50],
        [""],
    ],
)
def test_flattened_keys_that_make_no_sense(keys: list[str]) -> None:
    said = read_flat_messages({"p." + key: "x" for key in keys}, "p.")
    assert said.requested == ()
