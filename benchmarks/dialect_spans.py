"""A model span and a tool span as each writer shapes them, small and made up."""

from __future__ import annotations

import json
from typing import Any

from otel_processor.model import SpanRecord

Attributes = dict[str, Any]

_SAID = "The order has not left the warehouse. I will look at the carrier's page for the second parcel."
_ASKED = {"order_id": "demo-001", "include": ["parcels", "invoices"], "language": "en"}
_ANSWER = {"status": "packed", "parcels": [{"id": 1, "carrier": "post"}, {"id": 2, "carrier": None}], "total": 12.5}
_CALL = {"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": json.dumps(_ASKED)}}
_PARTS = [
    {
        "role": "assistant",
        "parts": [
            {"type": "text", "content": _SAID},
            {"type": "tool_call", "id": "call_1", "name": "lookup", "arguments": _ASKED},
        ],
    }
]
_MODEL_GENAI: Attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.response.model": "gpt-4o-2024-08-06",
    "gen_ai.response.id": "r-1",
    "gen_ai.response.finish_reasons": ["tool_calls"],
    "gen_ai.usage.input_tokens": 1_200,
    "gen_ai.usage.output_tokens": 80,
    "gen_ai.output.messages": json.dumps(_PARTS),
}
_TOOL_GENAI: Attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "lookup",
    "gen_ai.tool.call.id": "call_1",
    "gen_ai.tool.call.arguments": json.dumps(_ASKED),
    "gen_ai.tool.call.result": json.dumps(_ANSWER),
}
_LANGSMITH = {
    "langsmith.metadata.lc_agent_name": "clerk",
    "langsmith.metadata.thread_id": "t-1",
    "langsmith.metadata.langgraph_node": "n",
}

SHAPES: dict[str, tuple[Attributes, ...]] = {
    "genai": (_MODEL_GENAI, _TOOL_GENAI),
    "openinference": (
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "gpt-4o",
            "llm.provider": "openai",
            "llm.token_count.prompt": 1_200,
            "llm.token_count.completion": 80,
            "llm.token_count.prompt_details.cache_read": 400,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": _SAID,
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "call_1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "lookup",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": json.dumps(_ASKED),
        },
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "lookup",
            "input.value": json.dumps(_ASKED),
            "output.value": json.dumps(_ANSWER),
            "output.mime_type": "application/json",
        },
    ),
    "traceloop": (
        {
            "llm.request.type": "chat",
            "gen_ai.system": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.usage.prompt_tokens": 1_200,
            "gen_ai.usage.completion_tokens": 80,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": _SAID,
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.0.id": "call_1",
            "gen_ai.completion.0.tool_calls.0.name": "lookup",
            "gen_ai.completion.0.tool_calls.0.arguments": json.dumps(_ASKED),
        },
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "lookup",
            "traceloop.entity.input": json.dumps({"inputs": _ASKED}),
            "traceloop.entity.output": json.dumps(_ANSWER),
        },
    ),
    "vercel": (
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.model.id": "gpt-4o",
            "ai.model.provider": "openai.responses",
            "ai.response.finishReason": "tool-calls",
            "ai.response.text": _SAID,
            "ai.response.toolCalls": json.dumps([{"toolCallId": "call_1", "toolName": "lookup", "input": json.dumps(_ASKED)}]),
            "ai.usage.inputTokens": 1_200,
            "ai.usage.outputTokens": 80,
            "gen_ai.system": "openai.responses",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.usage.input_tokens": 1_200,
            "gen_ai.usage.output_tokens": 80,
        },
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "lookup",
            "ai.toolCall.id": "call_1",
            "ai.toolCall.args": json.dumps(_ASKED),
            "ai.toolCall.result": json.dumps(_ANSWER),
        },
    ),
    "langsmith": (
        _LANGSMITH
        | {
            "langsmith.span.kind": "llm",
            "gen_ai.operation.name": "chat",
            "langsmith.metadata.ls_provider": "openai",
            "gen_ai.response.model": "gpt-4o",
            "langsmith.metadata.usage_metadata": json.dumps(
                {"input_tokens": 1_200, "output_tokens": 80, "input_token_details": {"cache_read": 400}}
            ),
            "gen_ai.completion": json.dumps(
                {"generations": [[{"text": _SAID, "message": {"kwargs": {"content": _SAID, "tool_calls": [
                    {"name": "lookup", "args": _ASKED, "id": "call_1"}]}}}]]}
            ),
        },
        _LANGSMITH
        | {
            "langsmith.span.kind": "tool",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "lookup",
            "gen_ai.prompt": json.dumps({"input": str(_ASKED)}),
            "gen_ai.completion": json.dumps({"output": _ANSWER}),
        },
    ),
    "langfuse": (
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.model.name": "gpt-4o",
            "langfuse.observation.output": json.dumps({"role": "assistant", "content": _SAID, "tool_calls": [_CALL]}),
            "langfuse.observation.usage_details": json.dumps(
                {"input": 800, "input_cache_read": 400, "output": 80, "total": 1_280}
            ),
        },
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.input": json.dumps({"args": [], "kwargs": _ASKED}),
            "langfuse.observation.output": json.dumps(_ANSWER),
        },
    ),
    "mlflow": (
        {
            "mlflow.spanType": json.dumps("CHAT_MODEL"),
            "mlflow.spanOutputs": json.dumps(
                {"choices": [{"message": {"role": "assistant", "content": _SAID, "tool_calls": [_CALL]}}]}
            ),
            "mlflow.chat.tokenUsage": json.dumps({"input_tokens": 1_200, "output_tokens": 80, "total_tokens": 1_280}),
        },
        {
            "mlflow.spanType": json.dumps("TOOL"),
            "mlflow.spanFunctionName": json.dumps("lookup"),
            "mlflow.spanInputs": json.dumps(_ASKED),
            "mlflow.spanOutputs": json.dumps(_ANSWER),
        },
    ),
    "genkit": (
        {
            "genkit:type": "action",
            "genkit:metadata:subtype": "model",
            "genkit:name": "googleai/gemini-2.5-flash",
            "genkit:output": json.dumps(
                {"message": {"role": "model", "content": [
                    {"text": _SAID}, {"toolRequest": {"name": "lookup", "ref": "1", "input": _ASKED}}]},
                 "finishReason": "stop", "usage": {"inputTokens": 1_200, "outputTokens": 80, "totalTokens": 1_280}}
            ),
        },
        {
            "genkit:type": "action",
            "genkit:metadata:subtype": "tool",
            "genkit:name": "lookup",
            "genkit:input": json.dumps(_ASKED),
            "genkit:output": json.dumps(_ANSWER),
        },
    ),
    "adk": (
        {
            "gen_ai.operation.name": "generate_content",
            "gen_ai.system": "gcp.vertex.agent",
            "gen_ai.request.model": "gemini-2.5-flash",
            "gcp.vertex.agent.llm_response": json.dumps(
                {"content": {"parts": [{"text": _SAID}, {"function_call": {"name": "lookup", "args": _ASKED}}], "role": "model"},
                 "finish_reason": "STOP", "usage_metadata": {"prompt_token_count": 1_200, "candidates_token_count": 80}}
            ),
        },
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.system": "gcp.vertex.agent",
            "gen_ai.tool.name": "lookup",
            "gcp.vertex.agent.tool_call_args": json.dumps(_ASKED),
            "gcp.vertex.agent.tool_response": json.dumps(_ANSWER),
        },
    ),
    "claude_code": (
        {
            "span.type": "llm_request",
            "model": "claude-sonnet-4-5",
            "input_tokens": 800,
            "output_tokens": 80,
            "cache_read_tokens": 400,
            "cache_creation_tokens": 0,
        },
        {"span.type": "tool", "tool_name": "Read", "tool_use_id": "call_1", "file_path": "/srv/orders/demo-001.json"},
    ),
    "haystack": (
        {
            "haystack.component.name": "llm",
            "haystack.component.type": "OpenAIChatGenerator",
            "haystack.component.output": json.dumps(
                {"replies": [{"role": "assistant", "content": [{"text": _SAID}], "meta": {
                    "model": "gpt-4o", "finish_reason": "stop", "usage": {"prompt_tokens": 1_200, "completion_tokens": 80}}}]}
            ),
        },
        {
            "haystack.tool.name": "lookup",
            "haystack.agent.step.tool.input": json.dumps(_ASKED),
            "haystack.agent.step.tool.output": json.dumps(_ANSWER),
        },
    ),
    "somebody else's": (
        {"http.request.method": "POST", "url.full": "http://127.0.0.1/orders", "http.response.status_code": 200},
        {"db.system.name": "postgresql", "db.query.text": "select 1", "server.address": "127.0.0.1"},
    ),
}  # fmt: skip


NAMES = {
    "adk": ("generate_content gemini-2.5-flash", "execute_tool lookup"),
    "claude_code": ("claude_code.llm_request", "claude_code.tool"),
    "haystack": ("haystack.component.run", "haystack.agent.step.tool"),
}
"""Of writers that say in a span's name what it is."""

SCOPES = {"adk": "gcp.vertex.agent", "claude_code": "com.anthropic.claude_code.tracing", "haystack": "haystack"}


def make_spans() -> list[SpanRecord]:
    """Return one span for each shape."""
    return [
        _span(attributes, name, SCOPES.get(dialect, "bench"))
        for dialect, shapes in SHAPES.items()
        for attributes, name in zip(shapes, NAMES.get(dialect, ("operation", "operation")), strict=True)
    ]


def _span(attributes: Attributes, name: str, scope: str) -> SpanRecord:
    return SpanRecord(
        trace_id="a" * 32, span_id="b" * 16, parent_span_id=None, name=name, kind="INTERNAL", start_ns=1, end_ns=2,
        status="UNSET", status_message="", service="bench", scope=scope, scope_version="", attributes=attributes, events=(),
        resource={}, links=(),
    )  # fmt: skip
