from __future__ import annotations

import json
from typing import Any

from otel_processor.model import Reading, RequestedCall, Role
from tests.unit.dialects.spans import read

SCOPE = "opentelemetry.instrumentation.openai_agents"
CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.agent.name": "OpenAI Agent",
    "gen_ai.request.model": "m-1",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
}


def said(*texts: str, scope: str = SCOPE) -> Reading:
    parts = [{"type": "text", "content": text} for text in texts]
    return read(CHAT | {"gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}])}, scope=scope)


def test_printed_items_are_read() -> None:
    thought = "ResponseReasoningItem(id='rs_0', summary=[Summary(text=\"it's \\nwet\", type='summary_text')], type='reasoning')"
    call = "ResponseFunctionToolCall(arguments='{\"q\":\"arguments=\\'y\\'\"}', call_id='c1', name='search', id='f')"
    reading = said(thought, call)
    assert (reading.role, reading.text, reading.reasoning) == (Role.MODEL, None, "it's \nwet")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "arguments='y'"}),)
    assert (reading.agent, reading.input_tokens) == (None, 100)


def test_what_the_model_says_stays_text() -> None:
    assert said("It is 18C.").text == "It is 18C."
    assert said("ResponseTime(x=1) is high").text == "ResponseTime(x=1) is high"
    assert said("ResponseFunctionToolCall(name='a', arguments='{}')", scope="other").requested == ()


def test_a_broken_print_is_no_call() -> None:
    assert said("ResponseFunctionToolCall(arguments='\\x', name=3").requested == ()


def test_a_tool_failure_is_told_to_the_model_as_text() -> None:
    tool: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.arguments": '{"q": "x"}',
        "gen_ai.tool.call.result": "An error occurred while running the tool. Please try again.",
    }
    reading = read(tool, scope=SCOPE, status="ERROR", status_message="Error running tool (non-fatal)")
    assert (reading.role, reading.arguments, reading.is_error) == (Role.TOOL, {"q": "x"}, True)


def test_a_handoff_is_no_tool_call() -> None:
    handoff = {"openinference.span.kind": "TOOL", "input.value": "triage", "output.value": "finder"}
    scope = "openinference.instrumentation.openai_agents"
    assert read(handoff, scope=scope, name="handoff to finder").role is Role.OTHER
    assert read(handoff | {"tool.name": "handoff to finder"}, scope=scope, name="handoff to finder").role is Role.TOOL
    assert read(handoff, name="handoff to finder").role is Role.TOOL


def test_a_text_in_two_places_is_said_once() -> None:
    message = "llm.output_messages.0.message."
    twice = {message + "content": "Done.", message + "contents.0.message_content.text": "Done."}
    assert read({"openinference.span.kind": "LLM", message + "contents.0.message_content.type": "text"} | twice).text == "Done."
