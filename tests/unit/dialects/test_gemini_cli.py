from __future__ import annotations

import json
from typing import Any

from otel_processor.model import Reading, RequestedCall, Role
from tests.unit.dialects.spans import exception, read

WHO = {"gen_ai.agent.name": "gemini-cli", "gen_ai.conversation.id": "conv"}
REQUEST = {"callId": "c1", "name": "read_file", "args": {"path": "/a.txt"}, "isClientInitiated": False, "prompt_id": "p"}
TOOL = WHO | {"gen_ai.tool.name": "read_file", "gen_ai.tool.call_id": "c1", "gen_ai.input.messages": json.dumps(REQUEST)}


def gemini(operation: str, attributes: dict[str, Any], **fields: Any) -> Reading:
    return read(attributes | {"gen_ai.operation.name": operation}, scope="gemini-cli", name=operation, **fields)


def finished(status: str, response: dict[str, Any]) -> str:
    parts = [{"functionResponse": {"id": "c1", "name": "read_file", "response": response}}]
    return json.dumps({"status": status, "request": REQUEST, "response": {"callId": "c1", "responseParts": parts, "error": {}}})


def test_a_tool_call() -> None:
    reading = gemini("tool_call", TOOL | {"gen_ai.output.messages": finished("success", {"output": "18C"})}, status="OK")
    assert (reading.role, reading.dialect, reading.tool, reading.call_id) == (Role.TOOL, "gemini_cli", "read_file", "c1")
    assert (reading.arguments, reading.result, reading.is_error) == ({"path": "/a.txt"}, "18C", False)
    assert (reading.agent, reading.conversation_id) == ("gemini-cli", "conv")


def test_a_failure_leaves_the_status_at_ok() -> None:
    reading = gemini("tool_call", TOOL | {"gen_ai.output.messages": finished("error", {"error": "not found"})}, status="OK")
    assert (reading.is_error, reading.error_message, reading.result) == (True, "not found", {"error": "not found"})
    cancelled = gemini("tool_call", TOOL | {"gen_ai.output.messages": finished("cancelled", {"error": "[Operation Cancelled]"})})
    assert cancelled.is_error


def test_what_was_cut_is_unknown_but_how_it_ended_is_not() -> None:
    whole = finished("error", {"error": "x" * 20_000})
    cut = whole[:10_000] + f"...[TRUNCATED: original length {len(whole)}]"
    reading = gemini("tool_call", TOOL | {"gen_ai.output.messages": cut, "gen_ai.input.messages": cut}, status="OK")
    assert (reading.arguments, reading.result, reading.is_error) == (None, None, True)


def test_content_that_is_not_recorded() -> None:
    reading = gemini("tool_call", WHO | {"gen_ai.tool.name": "read_file"}, status="OK")
    assert (reading.arguments, reading.result, reading.is_error) == (None, None, False)


def test_a_streamed_answer_is_one_text() -> None:
    chunks = [
        {"role": "model", "parts": [{"text": "look ", "thought": True}]},
        {"role": "model", "parts": [{"text": "it up", "thought": True}, {"text": "One mo"}]},
        None,
        {
            "role": "model",
            "parts": [{"text": "ment."}, {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "/a"}}}],
        },
    ]
    reading = gemini(
        "llm_call",
        WHO
        | {
            "gen_ai.request.model": "m-1",
            "gen_ai.output.messages": json.dumps(chunks),
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 13,
        },
    )
    assert (reading.role, reading.model, reading.input_tokens, reading.output_tokens) == (Role.MODEL, "m-1", 100, 13)
    assert (reading.text, reading.reasoning) == ("One moment.", "look it up")
    assert reading.requested == (RequestedCall("c1", "read_file", {"path": "/a"}),)


def test_a_model_call_that_failed() -> None:
    reading = gemini("llm_call", WHO, status="ERROR", status_message="quota", events=[exception("Error", "quota")])
    assert (reading.is_error, reading.error_message) == (True, "quota")


def test_no_span_is_the_task() -> None:
    for operation in ("schedule_tool_calls", "user_prompt", "system_prompt", "agent_call"):
        reading = gemini(operation, WHO)
        assert (reading.role, reading.conversation_id) == (Role.OTHER, "conv")
