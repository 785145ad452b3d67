from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import exception, read


def typed(value: Any, kind: str = "json") -> str:
    return json.dumps({"type": kind, "value": value})


@pytest.mark.parametrize(
    ("kind", "role"),
    [("llm", Role.MODEL), ("tool", Role.TOOL), ("agent", Role.AGENT), ("rag", Role.OTHER), ("guardrail", Role.OTHER)],
)
def test_type_says_what_the_span_is(kind: str, role: Role) -> None:
    assert read({"langwatch.span.type": kind}).role is role


def test_a_tool_call_is_read_whole() -> None:
    told = {"langwatch.span.type": "tool", "langwatch.input": typed({"city": "Oslo"}), "langwatch.output": typed("4C", "text")}
    reading = read(told | {"metadata": '{"thread_id": "t-42"}'}, name="get_weather")
    assert (reading.tool, reading.arguments, reading.result) == ("get_weather", {"city": "Oslo"}, "4C")
    assert (reading.conversation_id, reading.is_error, reading.dialect) == ("t-42", False, "langwatch")
    failed = read({"langwatch.span.type": "tool"}, name="broken", status="ERROR", events=[exception("ValueError", "no")])
    assert (failed.is_error, failed.error_message) == (True, "no")


def test_a_model_call_is_read_whole() -> None:
    message = {"content": None, "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": '{"q":"x"}'}}]}
    reading = read(
        {
            "langwatch.span.type": "llm",
            "gen_ai.request.model": "openai/m-1",
            "langwatch.metrics": '{"prompt_tokens": 100, "completion_tokens": 20, "cost": 0.5}',
            "langwatch.output": typed({"choices": [{"finish_reason": "tool_calls", "message": message}]}),
        }
    )
    assert (reading.model, reading.provider, reading.finish_reason) == ("m-1", "openai", "tool_calls")
    assert (reading.input_tokens, reading.output_tokens, reading.cost_usd) == (100, 20, 0.5)
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


@pytest.mark.parametrize("value", ["{", "[]", 7, '{"value": null}', None])
def test_what_cannot_be_read_is_left_out(value: Any) -> None:
    told = {"langwatch.input": value, "langwatch.output": value, "langwatch.metrics": value, "metadata": value}
    tool = read(told | {"langwatch.span.type": "tool"}, name="t")
    assert (tool.role, tool.arguments, tool.result) == (Role.TOOL, None, None)
    assert read(told | {"langwatch.span.type": "llm"}).input_tokens is None
