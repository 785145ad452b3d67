"""The same agent as `agent.cjs`, with nothing but the OpenTelemetry API; as a program it says the ids of its spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry import trace

from tests.integration.agents import agent, ask_model, call_tool, span_id

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

TURNS = 6


def work(tracer: Tracer) -> list[str]:
    """Ask the model and the same tool again and again; return the ids of all spans."""
    with agent(tracer, "clerk") as span:
        ids = [span_id(span)]
        for _ in range(TURNS):
            ids.append(ask_model(tracer, finish="tool_call"))
            ids.append(call_tool(tracer, "lookup_order", {"order_id": "demo-001"}, "not found yet"))
    return ids


if __name__ == "__main__":
    print(*work(trace.get_tracer("agent")), sep="\n")
