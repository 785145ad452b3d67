"""Spans of small runs, written with GenAI names and read by the real reader."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from otel_processor.dialects import read_span
from otel_processor.model import SpanEvent, SpanRecord
from otel_processor.runs.records import ReadSpan

SECOND = 1_000_000_000


def make_span(
    span_id: str,
    attributes: Mapping[str, Any] | None = None,
    *,
    trace: str = "t1",
    parent: str | None = None,
    at: float = 0.0,
    seconds: float = 1.0,
    **fields: Any,
) -> SpanRecord:
    """A span that begins `at` seconds after the first minute of the epoch and lasts for `seconds`."""
    start_ns = 60 * SECOND + int(at * SECOND)
    return SpanRecord(
        **{
            "trace_id": trace,
            "span_id": span_id,
            "parent_span_id": parent,
            "name": span_id,
            "kind": "INTERNAL",
            "start_ns": start_ns,
            "end_ns": start_ns + int(seconds * SECOND),
            "status": "UNSET",
            "status_message": "",
            "service": "shop",
            "scope": "tests",
            "scope_version": "",
            "attributes": attributes or {},
            "events": (),
            "resource": {},
            "links": (),
            **fields,
        }
    )


def tool_span(
    span_id: str,
    words: str = "search:cats=nothing",
    *,
    call_id: str | None = None,
    more: Mapping[str, Any] | None = None,
    **fields: Any,
) -> SpanRecord:
    """A tool call: `search:cats=nothing` asks `search` for `{"q": "cats"}`, which answers `nothing`."""
    asked, _, result = words.partition("=")
    tool, _, question = asked.partition(":")
    attributes: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    if question:
        attributes["gen_ai.tool.call.arguments"] = json.dumps({"q": question})
    if result:
        attributes["gen_ai.tool.call.result"] = result
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    return make_span(span_id, attributes | dict(more or {}), **fields)


def model_span(
    span_id: str,
    *,
    requests: Sequence[tuple[str, str, str]] = (),
    finish: str | None = None,
    more: Mapping[str, Any] | None = None,
    **fields: Any,
) -> SpanRecord:
    """A model call, which may ask for tools: (call id, tool, question)."""
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 10}
    if requests:
        parts = [
            {"type": "tool_call", "id": call_id, "name": tool, "arguments": {"q": question}}
            for call_id, tool, question in requests
        ]
        attributes["gen_ai.output.messages"] = json.dumps([{"role": "assistant", "parts": parts}])
    if finish is not None:
        attributes["gen_ai.response.finish_reasons"] = [finish]
    return make_span(span_id, attributes | dict(more or {}), **fields)


def told_model_span(
    span_id: str, *told: tuple[str | None, str | None, str], more: Mapping[str, Any] | None = None, **fields: Any
) -> SpanRecord:
    """A model call that is given results: (call id, tool, result)."""
    given: list[dict[str, Any]] = [{"role": "assistant", "parts": [{"type": "text", "content": "I look it up"}]}]
    for call_id, tool, result in told:
        part = {"type": "tool_call_response", "id": call_id, "name": tool, "response": result}
        given.append({"role": "tool", "parts": [{name: value for name, value in part.items() if value is not None}]})
    return model_span(span_id, more={"gen_ai.input.messages": json.dumps(given)} | dict(more or {}), **fields)


def sibling_span(span_id: str, *told: tuple[str | None, str, str], **fields: Any) -> SpanRecord:
    """A plain span of ADK that tells results: (call id, tool, result)."""
    parts = [
        {"function_response": {"id": call_id, "name": tool, "response": {"result": result}}} for call_id, tool, result in told
    ]
    attributes = {"gcp.vertex.agent.tool_response": json.dumps({"content": {"parts": parts}})}
    return make_span(span_id, attributes, scope="gcp.vertex.agent", name="tool_response", **fields)


def failure_span(span_id: str, call_id: str, message: str, **fields: Any) -> SpanRecord:
    """A child of Claude Code's that tells how a tool failed."""
    attributes = {"span.type": "tool.execution", "success": "false", "tool_use_id": call_id, "error": message}
    return make_span(span_id, attributes, name="claude_code.tool.execution", **fields)


def invoker_span(span_id: str, *made: tuple[str, str, str], **fields: Any) -> SpanRecord:
    """A component of Haystack that made several calls: (call id, tool, result)."""
    messages = [
        {
            "role": "tool",
            "content": [
                {
                    "tool_call_result": {
                        "result": result,
                        "error": False,
                        "origin": {"id": call_id, "tool_name": tool, "arguments": {}},
                    }
                }
            ],
        }
        for call_id, tool, result in made
    ]
    attributes = {
        "haystack.component.type": "ToolInvoker",
        "haystack.component.output": json.dumps({"tool_messages": messages}),
    }
    return make_span(span_id, attributes, scope="haystack", name="haystack.component.run", **fields)


def agent_span(span_id: str, agent: str = "clerk", *, more: Mapping[str, Any] | None = None, **fields: Any) -> SpanRecord:
    """An agent's invocation."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}
    return make_span(span_id, attributes | dict(more or {}), **fields)


def exception_event(kind: str, message: str) -> SpanEvent:
    """What an SDK records when an exception leaves a span."""
    return SpanEvent("exception", 0, {"exception.type": kind, "exception.message": message})


def read(span: SpanRecord) -> ReadSpan:
    """The span as the ledger takes it."""
    return ReadSpan(span, read_span(span))
