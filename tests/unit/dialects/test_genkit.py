from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import exception, read

MODEL = {"genkit:type": "action", "genkit:metadata:subtype": "model", "genkit:name": "acme/m-1", "genkit:state": "success"}
TOOL = {"genkit:type": "action", "genkit:metadata:subtype": "tool", "genkit:name": "search", "genkit:input": '{"q":"x"}'}


@pytest.mark.parametrize(
    ("attributes", "role"),
    [
        ({"genkit:type": "action", "genkit:metadata:subtype": "flow"}, Role.WORKFLOW),
        ({"genkit:type": "action", "genkit:metadata:subtype": "tool.v2"}, Role.TOOL),
        ({"genkit:type": "action", "genkit:metadata:subtype": "model"}, Role.MODEL),
        ({"genkit:type": "action", "genkit:metadata:subtype": "agent"}, Role.AGENT),
        ({"genkit:type": "action", "genkit:metadata:subtype": "embedder"}, Role.OTHER),
        ({"genkit:type": "util"}, Role.OTHER),
        ({"genkit:type": "util", "genkit:isRoot": True}, Role.WORKFLOW),
        ({"genkit:type": "action", "genkit:metadata:subtype": "model", "genkit:isRoot": True}, Role.MODEL),
    ],
)
def test_type_says_what_the_span_is(attributes: dict[str, Any], role: Role) -> None:
    assert read(attributes, name="generate").role is role


def test_a_root() -> None:
    reading = read({"genkit:metadata:subtype": "flow", "genkit:name": "my_task", "genkit:sessionId": "s-7"}, name="my_task")
    assert (reading.agent, reading.conversation_id) == ("my_task", "s-7")


def test_a_model_call_is_read_whole() -> None:
    parts = [
        {"reasoning": "look it up"},
        {"text": "One moment."},
        {"toolRequest": {"name": "search", "ref": "c1", "input": {"q": "x"}}},
    ]
    usage = {"inputTokens": 100, "outputTokens": 13, "totalTokens": 120, "cachedContentTokens": 50, "thoughtsTokens": 7}
    output = {"message": {"role": "model", "content": parts}, "finishReason": "stop", "usage": usage}
    reading = read(MODEL | {"genkit:output": json.dumps(output)}, name="acme/m-1")
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "genkit", "m-1", "acme")
    assert (reading.input_tokens, reading.output_tokens) == (100, 20)
    assert (reading.cache_read_tokens, reading.reasoning_tokens) == (50, 7)
    assert (reading.text, reading.reasoning) == ("One moment.", "look it up")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)
    assert reading.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("usage", "output_tokens"),
    [
        ({"inputTokens": 100, "outputTokens": 20, "thoughtsTokens": 7, "totalTokens": 120}, 20),
        ({"inputTokens": 100, "outputTokens": 13, "thoughtsTokens": 7, "totalTokens": 120}, 20),
        ({"inputTokens": 100, "outputTokens": 20, "thoughtsTokens": 7}, 20),
        ({"outputTokens": "20"}, 20),
        ({}, None),
    ],
)
def test_the_total_says_whether_thoughts_are_in_the_output(usage: dict[str, Any], output_tokens: int | None) -> None:
    assert read(MODEL | {"genkit:output": json.dumps({"usage": usage})}).output_tokens == output_tokens


def test_a_tool_call_is_read_whole() -> None:
    reading = read(TOOL | {"genkit:output": '{"hits":3}', "genkit:state": "success"}, name="search")
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, "search", {"q": "x"}, {"hits": 3})


def test_a_failed_tool_call_is_told_by_its_state() -> None:
    assert read(TOOL | {"genkit:state": "error"}).is_error
    reading = read(TOOL | {"genkit:state": "error"}, status="ERROR", events=[exception("Error", "no backend")])
    assert (reading.error_type, reading.error_message) == ("Error", "no backend")
