from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.dialects.reader import told_by
from otel_processor.model import Reading, RequestedCall, Role, Told
from tests.unit.dialects.spans import event, exception, read, span

SCOPE = "strands.telemetry.tracer"
TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.system": "strands-agents",
    "gen_ai.tool.name": "search",
    "gen_ai.tool.call.id": "t1",
    "session.id": "sess-7",
}
CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m-1",
    "gen_ai.usage.prompt_tokens": 100,
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.completion_tokens": 20,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.usage.cache_read.input_tokens": 50,
    "gen_ai.usage.cache_read_input_tokens": 50,
}
BLOCKS = [
    {"reasoningContent": {"reasoningText": {"text": "look it up", "signature": "s"}}},
    {"text": "One moment."},
    {"toolUse": {"toolUseId": "t1", "name": "search", "input": {"q": "x"}}},
]
RESULT = [{"toolResult": {"toolUseId": "t1", "status": "error", "content": [{"text": "Error: no backend"}]}}]


def strands(attributes: dict[str, Any], **fields: Any) -> Reading:
    return read(attributes, scope=SCOPE, **fields)


def test_content_in_events() -> None:
    reading = strands(
        TOOL | {"gen_ai.tool.status": "success"},
        events=[
            event("gen_ai.tool.message", role="tool", content='{"q": "x"}', id="t1"),
            event("gen_ai.choice", message='[{"text": "3 hits"}]', id="t1"),
        ],
        status="OK",
    )
    assert (reading.role, reading.call_id, reading.conversation_id) == (Role.TOOL, "t1", "sess-7")
    assert (reading.arguments, reading.result, reading.is_error) == ({"q": "x"}, "3 hits", False)


def test_content_in_attributes() -> None:
    content = {"gen_ai.tool.call.arguments": '{"q": "x"}', "gen_ai.tool.call.result": '[{"text": "3 hits"}]'}
    reading = strands(TOOL | content, status="OK")
    assert (reading.arguments, reading.result) == ({"q": "x"}, "3 hits")


def test_redacted_content_is_unknown() -> None:
    content = {"gen_ai.tool.call.arguments": "[REDACTED]", "gen_ai.tool.call.result": "[REDACTED]"}
    reading = strands(TOOL | content)
    assert (reading.arguments, reading.result) == (None, None)


@pytest.mark.parametrize(
    ("attributes", "fields"),
    [
        ({"tool.status": "error"}, {"status": "OK"}),
        (
            {"gen_ai.tool.status": "error"},
            {"status": "ERROR", "status_message": "no backend", "events": [exception("ValueError", "no backend")]},
        ),
    ],
)
def test_a_tool_that_failed(attributes: dict[str, str], fields: dict[str, Any]) -> None:
    assert strands(TOOL | attributes, **fields).is_error


def test_a_model_call() -> None:
    reading = strands(CHAT, events=[event("gen_ai.choice", finish_reason="tool_use", message=json.dumps(BLOCKS))])
    assert (reading.role, reading.input_tokens, reading.output_tokens, reading.cache_read_tokens) == (Role.MODEL, 100, 20, 50)
    assert (reading.text, reading.reasoning, reading.finish_reason) == ("One moment.", "look it up", "tool_calls")
    assert reading.requested == (RequestedCall("t1", "search", {"q": "x"}),)


def test_cycles_are_steps() -> None:
    cycle = {"gen_ai.operation.name": "execute_event_loop_cycle", "event_loop.cycle_id": "1", "session.id": "sess-7"}
    assert strands(cycle, name="execute_event_loop_cycle").role is Role.OTHER
    root = strands(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder"},
        events=[event("gen_ai.choice", finish_reason="max_tokens", message="cut")],
    )
    assert (root.role, root.agent, root.finish_reason) == (Role.AGENT, "finder", "length")


@pytest.mark.parametrize(
    "given",
    [
        {
            "events": [
                event("gen_ai.user.message", content='[{"text": "hi"}]'),
                event("gen_ai.assistant.message", content=json.dumps(BLOCKS)),
                event("gen_ai.tool.message", content=json.dumps(RESULT)),
                event("gen_ai.choice", message='[{"text": "Done."}]'),
            ]
        },
        {
            "attributes": {
                "gen_ai.input.messages": json.dumps(
                    [
                        {"role": "assistant", "parts": [{"type": "tool_call", "id": "t1", "name": "search", "arguments": {}}]},
                        {
                            "role": "tool",
                            "parts": [{"type": "tool_call_response", "id": "t1", "response": RESULT[0]["toolResult"]}],
                        },
                    ]
                )
            }
        },
    ],
)
def test_results_are_told_to_the_next_model_call(given: dict[str, Any]) -> None:
    told = told_by(span(CHAT | given.get("attributes", {}), scope=SCOPE, events=given.get("events", ())))
    assert [one.call_id for one in told] == ["t1"]
    if given.get("events"):
        assert told == (Told("t1", None, result="Error: no backend", is_error=True),)
