"""An agent as its spans tell it: the GenAI conventions, written with nothing but the OpenTelemetry API."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson
from opentelemetry.trace import SpanKind, Status, StatusCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer


def tool_attributes(
    tool: str, arguments: Any = None, result: Any = None, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The attributes of a tool call."""
    attributes: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    if arguments is not None:
        attributes["gen_ai.tool.call.arguments"] = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
    if result is not None:
        attributes["gen_ai.tool.call.result"] = result if isinstance(result, str) else orjson.dumps(result).decode()
    return attributes | dict(more or {})


def call_tool(
    tracer: Tracer,
    tool: str,
    arguments: Any = None,
    result: Any = None,
    *,
    context: Context | None = None,
    error: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> str:
    """Make a tool call and return its span id."""
    attributes = tool_attributes(tool, arguments, more=more)
    with tracer.start_as_current_span(f"execute_tool {tool}", context=context, attributes=attributes) as span:
        if error is not None:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR, error))
        elif result is not None:
            span.set_attribute("gen_ai.tool.call.result", result if isinstance(result, str) else orjson.dumps(result).decode())
        return span_id(span)


def ask_model(
    tracer: Tracer, *, tokens: tuple[int, int] = (100, 10), finish: str = "stop", given: Mapping[str, str] | None = None
) -> str:
    """Make a model call, which may be given results by call id, and return its span id."""
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": tokens[0],
        "gen_ai.usage.output_tokens": tokens[1],
        "gen_ai.response.finish_reasons": (finish,),
    }
    if given:
        parts = [{"type": "tool_call_response", "id": call_id, "response": result} for call_id, result in given.items()]
        attributes["gen_ai.input.messages"] = orjson.dumps([{"role": "tool", "parts": parts}]).decode()
    with tracer.start_as_current_span("chat m-1", kind=SpanKind.CLIENT, attributes=attributes) as span:
        return span_id(span)


@contextmanager
def agent(tracer: Tracer, name: str = "agent", *, more: Mapping[str, Any] | None = None) -> Iterator[Span]:
    """Let an agent work: what happens in the block are its calls."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name} | dict(more or {})
    with tracer.start_as_current_span(f"invoke_agent {name}", attributes=attributes) as span:
        yield span


def loop(tracer: Tracer, times: int, *, name: str = "looper", tool: str = "lookup_order") -> list[str]:
    """Run an agent that gets the same answer to the same question; return the span ids of its calls."""
    with agent(tracer, name):
        return [call_tool(tracer, tool, {"order_id": "demo-001"}, "not found yet") for _ in range(times)]


def span_id(span: Span) -> str:
    """The id as the store writes it."""
    return f"{span.get_span_context().span_id:016x}"


def trace_id(span: Span) -> str:
    """The id as the store writes it."""
    return f"{span.get_span_context().trace_id:032x}"
