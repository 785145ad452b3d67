from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.model import NOTHING, RequestedCall, Role
from tests.unit.dialects.spans import exception, read

BASE = {
    "ai.telemetry.functionId": "finder",
    "ai.telemetry.metadata.sessionId": "s-7",
    "ai.model.id": "m-1",
    "ai.model.provider": "acme.chat",
}
STEP = BASE | {"ai.operationId": "ai.generateText.doGenerate", "gen_ai.system": "acme.chat", "gen_ai.request.model": "m-1"}
TOOL = BASE | {
    "ai.operationId": "ai.toolCall",
    "ai.toolCall.name": "search",
    "ai.toolCall.id": "c1",
    "ai.toolCall.args": '{"q":"x"}',
}


@pytest.mark.parametrize(
    ("operation", "role"),
    [
        ("ai.generateText", Role.AGENT),
        ("ai.streamText", Role.AGENT),
        ("ai.streamObject", Role.AGENT),
        ("ai.streamText.doStream", Role.MODEL),
        ("ai.generateObject.doGenerate", Role.MODEL),
        ("ai.toolCall", Role.TOOL),
        ("ai.embed", Role.OTHER),
        ("ai.embedMany.doEmbed", Role.OTHER),
        ("ai.rerank", Role.OTHER),
    ],
)
def test_operation_says_what_the_span_is(operation: str, role: Role) -> None:
    assert read({"ai.operationId": operation}).role is role


def test_a_root_tells_no_tokens() -> None:
    """They are the last step's in one version and the sum in another."""
    usage = {"ai.usage.promptTokens": 104, "ai.usage.completionTokens": 20, "ai.response.finishReason": "stop"}
    reading = read(BASE | usage | {"ai.operationId": "ai.generateText"}, name="ai.generateText")
    assert (reading.role, reading.agent, reading.conversation_id) == (Role.AGENT, "finder", "s-7")
    assert (reading.input_tokens, reading.output_tokens, reading.finish_reason) == (None, None, "stop")


def test_a_model_call_of_version_6_is_read_whole() -> None:
    reading = read(
        STEP
        | {
            "ai.response.model": "m-1-0815",
            "ai.response.text": "One moment.",
            "ai.response.reasoning": "look it up",
            "ai.response.toolCalls": '[{"toolCallId":"c1","toolName":"search","input":{"q":"x"}}]',
            "ai.response.finishReason": "tool-calls",
            "ai.usage.inputTokens": 100,
            "ai.usage.outputTokens": 20,
            "ai.usage.inputTokenDetails.noCacheTokens": 42,
            "ai.usage.inputTokenDetails.cacheReadTokens": 50,
            "ai.usage.inputTokenDetails.cacheWriteTokens": 8,
            "ai.usage.outputTokenDetails.reasoningTokens": 7,
            "ai.response.providerMetadata": '{"gateway":{"cost":"0.25"}}',
        }
    )
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "vercel", "m-1-0815", "acme.chat")
    assert (reading.input_tokens, reading.output_tokens, reading.reasoning_tokens) == (100, 20, 7)
    assert (reading.cache_read_tokens, reading.cache_write_tokens, reading.cost_usd) == (50, 8, 0.25)
    assert (reading.text, reading.reasoning, reading.finish_reason) == ("One moment.", "look it up", "tool_calls")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_a_model_call_of_version_5() -> None:
    asked = '[{"toolCallId":"c1","toolName":"search","input":"{\\"q\\":\\"x\\"}"}]'
    reading = read(STEP | {"ai.usage.promptTokens": 100, "ai.usage.completionTokens": 20, "ai.response.toolCalls": asked})
    assert (reading.input_tokens, reading.output_tokens) == (100, 20)
    assert reading.requested[0].arguments == {"q": "x"}


@pytest.mark.parametrize(
    ("provider", "more", "tokens"),
    [
        ("anthropic.messages", {}, 150),
        ("amazon-bedrock", {}, 150),
        ("openai.responses", {}, 100),
        # Told apart: the input is the sum already.
        ("anthropic.messages", {"ai.usage.inputTokenDetails.noCacheTokens": 50}, 100),
    ],
)
def test_version_5_hands_on_what_the_provider_counts(provider: str, more: dict[str, Any], tokens: int) -> None:
    usage = {"ai.usage.inputTokens": 100, "ai.usage.cachedInputTokens": 50, "ai.model.provider": provider}
    assert read(STEP | usage | more).input_tokens == tokens


def test_openrouter_says_what_a_call_cost() -> None:
    metadata = json.dumps({"openrouter": {"usage": {"cost": 0.125}}})
    assert read(STEP | {"ai.response.providerMetadata": metadata}).cost_usd == 0.125


def test_an_object_is_what_the_model_said() -> None:
    assert read(STEP | {"ai.operationId": "ai.generateObject.doGenerate", "ai.response.object": '{"a":1}'}).text == '{"a":1}'


def test_a_tool_call_is_read_whole() -> None:
    reading = read(TOOL | {"ai.toolCall.result": '{"hits":3}'})
    assert (reading.role, reading.tool, reading.call_id, reading.agent) == (Role.TOOL, "search", "c1", "finder")
    assert (reading.arguments, reading.result, reading.is_error) == ({"q": "x"}, {"hits": 3}, False)


def test_a_failed_tool_call() -> None:
    reading = read(TOOL, status="ERROR", status_message="no backend", events=[exception("Error", "no backend")])
    assert (reading.is_error, reading.error_type, reading.error_message, reading.result) == (True, "Error", "no backend", None)


def test_content_that_is_not_recorded_is_unknown() -> None:
    reading = read({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "search"})
    assert (reading.arguments, reading.result) == (None, None)


def test_other_keys_of_the_sdk_say_nothing() -> None:
    assert read({"ai.model.id": "m-1"}) is NOTHING
