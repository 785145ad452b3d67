from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import read


def kind(name: str) -> dict[str, Any]:
    return {"braintrust.span_attributes": json.dumps({"type": name})}


@pytest.mark.parametrize(
    ("name", "role"),
    [("llm", Role.MODEL), ("tool", Role.TOOL), ("task", Role.WORKFLOW), ("score", Role.OTHER), ("eval", Role.OTHER)],
)
def test_type_says_what_the_span_is(name: str, role: Role) -> None:
    assert read(kind(name)).role is role


def test_a_tool_call_is_read_whole() -> None:
    reading = read(kind("tool") | {"braintrust.input_json": '{"city":"Oslo"}', "braintrust.output": "4C"}, name="getWeather")
    assert (reading.tool, reading.arguments, reading.result) == ("getWeather", {"city": "Oslo"}, "4C")


def test_a_model_call_is_read_whole() -> None:
    message = {"content": "Let me look.", "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": '{"q":"x"}'}}]}
    told = kind("llm") | {
        "braintrust.metadata": '{"provider": "openai", "model": "m-1"}',
        "braintrust.metrics": '{"prompt_tokens": 100, "completion_tokens": 20, "tokens": 120, "prompt_cached_tokens": 50}',
        "braintrust.output_json": json.dumps([{"index": 0, "finish_reason": "tool_calls", "message": message}]),
    }
    reading = read(told)
    assert (reading.model, reading.provider, reading.finish_reason, reading.text) == (
        "m-1",
        "openai",
        "tool_calls",
        "Let me look.",
    )
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens) == (100, 20, 50)
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)
    # Anthropic counts what it cached apart.
    assert read(told | {"braintrust.metadata": '{"provider": "anthropic", "model": "m-1"}'}).input_tokens == 150


@pytest.mark.parametrize("value", ["{", "[]", 7, None, "null"])
def test_what_cannot_be_read_is_left_out(value: Any) -> None:
    told = {"braintrust.metadata": value, "braintrust.metrics": value, "braintrust.output_json": value}
    reading = read(told | kind("llm"))
    assert (reading.role, reading.model, reading.input_tokens) == (Role.MODEL, None, None)
    assert read({"braintrust.span_attributes": value}).role is Role.OTHER
