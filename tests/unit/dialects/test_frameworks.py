"""Frameworks without names of their own: GenAI, OpenInference and Traceloop tables read them as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import exception, read


def test_semantic_kernel() -> None:
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "m-1",
        "gen_ai.response.finish_reason": "FinishReason.TOOL_CALLS,FinishReason.STOP",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
    }
    reading = read(chat, name="chat m-1")
    assert (reading.role, reading.finish_reason, reading.input_tokens, reading.text) == (Role.MODEL, "tool_calls", 100, None)
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "Demo-search",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"q": "x"}',
        "error.type": "FunctionExecutionException",
    }
    failed = read(tool, status="ERROR", events=[exception("FunctionExecutionException", "no backend")] * 2)
    assert (failed.tool, failed.arguments, failed.is_error, failed.error_message) == (
        "Demo-search",
        {"q": "x"},
        True,
        "no backend",
    )
    root = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "finder",
        "gen_ai.output.messages": '[{"role": "assistant", "content": "Done."}]',
    }
    assert (read(root).role, read(root).agent) == (Role.AGENT, "finder")
    assert read({"sk.available_functions": "Demo-search"}, name="AutoFunctionInvocationLoop").role is Role.OTHER


def test_agent_framework() -> None:
    message = {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "look it up"},
            {"type": "tool_call", "id": "c1", "name": "search", "arguments": '{"q":"x"}'},
        ],
        "finish_reason": "tool_call",
    }
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.response.model": "unknown",
        "gen_ai.response.finish_reasons": '["tool_calls"]',
        "gen_ai.output.messages": json.dumps([message]),
    }
    reading = read(chat, scope="agent_framework")
    assert (reading.model, reading.finish_reason, reading.reasoning) == ("m-1", "tool_calls", "look it up")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_the_anthropic_sdk() -> None:
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.response.model": "m-1",
        "gen_ai.response.id": "msg_0",
        # Its own spans count as the conventions want it; the API itself counts cached tokens apart.
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 50,
        "gen_ai.usage.cache_write.input_tokens": 10,
        "gen_ai.usage.output_tokens": 20,
        "anthropic.message.stop_reason": "tool_use",
    }
    reading = read(chat, scope="com.anthropic.sdk.python", name="anthropic.messages.create", status="OK")
    assert (reading.role, reading.finish_reason, reading.call_id) == (Role.MODEL, "tool_calls", "msg_0")
    assert (reading.input_tokens, reading.cache_read_tokens, reading.cache_write_tokens) == (100, 50, 10)
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "toolu_0"}
    failed = read(tool | {"error.type": "tool_error"}, name="anthropic.custom_tool_use search", status="ERROR")
    assert (failed.arguments, failed.is_error, failed.error_type) == (None, True, "tool_error")


OI_TOOL = {"openinference.span.kind": "TOOL"}


@pytest.mark.parametrize(
    ("attributes", "name", "tool"),
    [
        # smolagents
        (
            {"tool.name": "search", "input.value": '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"q": "x"}}'},
            "SimpleTool",
            "search",
        ),
        # DSPy
        ({"input.value": '{"kwargs": {"q": "x"}}', "openinference.span.kind": "TOOL"}, "search.__call__", "search"),
        # LlamaIndex
        (
            {"tool.name": "search", "tool.parameters": '{"properties": {}}', "input.value": '{"kwargs": {"q": "x"}}'},
            "FunctionTool.acall",
            "search",
        ),
        # Agno
        ({"tool.name": "search", "tool.parameters": '{"q": "x"}', "input.value": '{"q": "x"}'}, "search", "search"),
        # OpenAI Agents
        ({"tool.name": "search", "tool.parameters": '{"properties": {}}', "input.value": '{"q": "x"}'}, "search", "search"),
    ],
)
def test_openinference_tools(attributes: dict[str, Any], name: str, tool: str) -> None:
    reading = read(OI_TOOL | attributes | {"output.value": "3 hits"}, name=name, status="OK")
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, tool, {"q": "x"}, "3 hits")
    failed = read(OI_TOOL | attributes, name=name, status="ERROR", status_message="ValueError: no backend")
    assert (failed.is_error, failed.error_message, failed.result) == (True, "ValueError: no backend", None)


def test_content_that_openinference_hides_is_unknown() -> None:
    hidden = OI_TOOL | {"tool.name": "search", "input.value": "__REDACTED__", "output.value": "__REDACTED__"}
    reading = read(hidden, status="OK")
    assert (reading.tool, reading.arguments, reading.result) == ("search", None, None)
    model = {"openinference.span.kind": "LLM", "llm.model_name": "m-1", "output.value": "__REDACTED__"}
    assert read(model).text is None
    assert read(model | {"llm.output_messages.0.message.content": "__REDACTED__"}).text is None


AGNO = "status='{}' result={} error={} updated_session_state=None images=None files=None metrics={{'a': 1.5}}"


def test_agno_under_traceloop() -> None:
    tool = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "search",
        "gen_ai.tool.name": "search",
        "traceloop.entity.input": '{"q": "x"}',
    }
    scope = "opentelemetry.instrumentation.agno"

    def ended(status: str, result: str, error: str) -> Any:
        return read(tool | {"traceloop.entity.output": AGNO.format(status, result, error)}, scope=scope, status="OK")

    assert (ended("success", "'3 hits'", "None").result, ended("success", "'3 hits'", "None").is_error) == ("3 hits", False)
    assert ended("success", '"it\'s 18C"', "None").result == "it's 18C"
    assert ended("success", "None", "None").result == "null"
    failed = ended("failure", "None", "'no backend'")
    assert (failed.is_error, failed.error_message, failed.result) == (True, "no backend", "no backend")


def test_llamaindex_under_traceloop() -> None:
    output = {"blocks": [], "tool_name": "search", "raw_input": {"kwargs": {"q": "x"}}, "raw_output": "3 hits", "is_error": False}
    tool = {
        "traceloop.span.kind": "task",
        "traceloop.entity.name": "FunctionTool.task",
        "traceloop.entity.input": '{"kwargs": {"q": "x"}}',
        "traceloop.entity.output": json.dumps(output),
    }
    reading = read(tool, name="FunctionTool.task")
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, "search", {"q": "x"}, "3 hits")
    assert read(tool | {"traceloop.entity.name": "BaseWorkflowAgent.task"}).role is Role.OTHER


def test_agentscope() -> None:
    def answered(text: str, state: str) -> Any:
        block = {"type": "text", "text": text, "id": "4b08", "created_at": "2030-01-01T00:00:00", "finished_at": None}
        result = {"content": [block], "state": state, "metadata": {}, "id": "c1"}
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1"}
        return read(tool | {"gen_ai.tool.call.result": json.dumps(result)}, scope="agentscope", status="OK")

    assert (answered("3 hits", "success").result, answered("3 hits", "success").is_error) == ("3 hits", False)
    failed = answered("no backend", "error")
    assert (failed.result, failed.is_error, failed.error_message) == ("no backend", True, "no backend")
