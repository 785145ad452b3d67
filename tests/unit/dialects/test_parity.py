"""One call told in each dialect is one and the same call."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from otel_processor.model import Reading
from tests.unit.dialects.spans import read

letters = st.text(st.characters(codec="utf-8", categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=12).filter(
    lambda text: text.lower() != "unknown"
)
# A name of two letters at least is no wrapper's key; numbers stay exact in JSON.
leaves = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | letters
json_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(letters, inner, max_size=3), max_leaves=6
)
arguments = st.dictionaries(letters.map(lambda key: "p_" + key), json_values, max_size=4)
results = letters.map(lambda text: "found " + text) | st.dictionaries(
    letters.map(lambda key: "r_" + key), json_values, min_size=1, max_size=3
)
tokens = st.integers(0, 10**9)
# Some writers say `none` where there is none.
sessions = letters.filter(lambda text: text != "none")


def same(readings: list[Reading]) -> bool:
    first, *others = (replace(reading, dialect="") for reading in readings)
    return all(reading == first for reading in others)


@given(letters, sessions, arguments, results, st.booleans())
def test_a_tool_call(tool: str, session: str, asked: dict[str, Any], told: Any, failed: bool) -> None:
    told_text = told if isinstance(told, str) else json.dumps(told)
    outcome: dict[str, Any] = {"status": "ERROR", "status_message": "no backend"} if failed else {}
    genai = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.arguments": asked,
        "gen_ai.tool.call.result": told,
        "gen_ai.conversation.id": session,
    }
    openinference = {
        "openinference.span.kind": "TOOL",
        "tool.name": tool,
        "input.value": json.dumps({"kwargs": asked}),
        "output.value": told_text,
        "session.id": session,
    }
    traceloop = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": tool,
        "traceloop.entity.input": json.dumps({"args": [], "kwargs": asked}),
        "traceloop.entity.output": json.dumps(told),
        "traceloop.association.properties.session_id": session,
    }
    asked_json, told_json = json.dumps(asked), json.dumps(told)
    own_names: list[dict[str, Any]] = [
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": tool,
            "ai.toolCall.args": asked_json,
            "ai.toolCall.result": told_json,
            "ai.telemetry.metadata.sessionId": session,
        },
        {
            "langsmith.span.kind": "tool",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.prompt": asked_json,
            "gen_ai.completion": json.dumps({"output": told}),
            "langsmith.metadata.thread_id": session,
        },
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.input": json.dumps({"args": [], "kwargs": asked}),
            "langfuse.observation.output": told_text,
            "session.id": session,
        },
        {
            "mlflow.spanType": '"TOOL"',
            "mlflow.spanInputs": asked_json,
            "mlflow.spanOutputs": told_json,
            "session.id": json.dumps(session),
        },
        {
            "genkit:metadata:subtype": "tool",
            "genkit:name": tool,
            "genkit:input": asked_json,
            "genkit:output": told_text,
            "genkit:sessionId": session,
        },
        {
            "mastra.span.type": "tool_call",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.call.arguments": asked_json,
            "gen_ai.tool.call.result": told_text,
            "mastra.metadata.threadId": session,
        },
        {
            "spring.ai.kind": "tool_call",
            "spring.ai.tool.definition.name": tool,
            "spring.ai.tool.call.arguments": asked_json,
            "spring.ai.tool.call.result": told_json,
            "spring.ai.chat.client.conversation.id": session,
        },
        {
            "lmnr.span.type": "TOOL",
            "lmnr.span.input": asked_json,
            "lmnr.span.output": told_json,
            "lmnr.association.properties.session_id": session,
        },
        {
            "agentops.span.kind": "tool",
            "operation.name": tool,
            "agentops.tool.input": json.dumps({"args": [], "kwargs": asked}),
            "agentops.tool.output": told_text,
            "session.id": session,
            "gen_ai.conversation.id": session,
        },
        {
            "lk.function_tool.name": tool,
            "lk.pii.function_tool.arguments": asked_json,
            "lk.pii.function_tool.output": told_text,
            "gen_ai.conversation.id": session,
        },
        {
            "entity.type": "agent",
            "span.type": "tool",
            "tool.name": tool,
            "input": asked_json,
            "output": told_text,
            "conversation.id": session,
        },
    ]
    readings = [read(attributes, name=tool, **outcome) for attributes in (genai, openinference, traceloop, *own_names)]
    assert same(readings)
    assert (readings[0].arguments, readings[0].result, readings[0].is_error) == (asked, told, failed)


@given(letters, letters, tokens, tokens, letters, letters, arguments)
def test_a_model_call(
    model: str, provider: str, input_tokens: int, output_tokens: int, text: str, tool: str, asked: dict[str, Any]
) -> None:
    text = "I say " + text
    genai = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.response.model": model,
        "gen_ai.usage.input_tokens": input_tokens,
        "gen_ai.usage.output_tokens": output_tokens,
        "gen_ai.response.finish_reasons": ["tool_call"],
        "gen_ai.output.messages": [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": text}, {"type": "tool_call", "id": "c1", "name": tool, "arguments": asked}],
            }
        ],
    }
    message = "llm.output_messages.0.message."
    openinference = {
        "openinference.span.kind": "LLM",
        "llm.provider": provider,
        "llm.model_name": model,
        "llm.token_count.prompt": str(input_tokens),
        "llm.token_count.completion": output_tokens,
        "llm.finish_reason": "tool_use",
        message + "role": "assistant",
        message + "content": text,
        message + "tool_calls.0.tool_call.id": "c1",
        message + "tool_calls.0.tool_call.function.name": tool,
        message + "tool_calls.0.tool_call.function.arguments": json.dumps(asked),
    }
    traceloop = {
        "llm.request.type": "chat",
        "gen_ai.system": provider,
        "gen_ai.response.model": model,
        "gen_ai.usage.prompt_tokens": input_tokens,
        "gen_ai.usage.completion_tokens": output_tokens,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": text,
        "gen_ai.completion.0.finish_reason": "tool_calls",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": tool,
        "gen_ai.completion.0.tool_calls.0.arguments": json.dumps(asked),
    }
    readings = [read(attributes) for attributes in (genai, openinference, traceloop)]
    assert same(readings)
    assert readings[0].requested[0].arguments == asked
