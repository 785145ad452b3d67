from __future__ import annotations

import json
from typing import Any

from otel_processor.dialects.reader import told_by
from otel_processor.model import Reading, RequestedCall, Role, Told
from tests.unit.dialects.spans import read, span

SCOPE = "logfire.openai_agents"


def logfire(name: str, attributes: dict[str, Any] | None = None, **fields: Any) -> Reading:
    return read({"logfire.span_type": "span"} | (attributes or {}), scope=SCOPE, name=name, **fields)


def test_the_tree() -> None:
    root = logfire("OpenAI Agents trace: {name}", {"name": "My workflow", "group_id": "conv"})
    assert (root.role, root.agent, root.conversation_id) == (Role.WORKFLOW, "My workflow", "conv")
    agent = logfire("Agent run: {name!r}", {"name": "finder"})
    assert (agent.role, agent.agent, agent.dialect) == (Role.AGENT, "finder", "logfire")
    for step in ("Task: Agent workflow", "Turn {turn} for agent finder", "Handoff: {from_agent} → {to_agent}"):
        assert logfire(step, {"usage": "{}", "name": "turn"}).role is Role.OTHER
    assert logfire("Function: {name}", {"name": "search", "logfire.span_type": "pending_span"}).role is Role.OTHER


def test_a_tool_call() -> None:
    reading = logfire("Function: {name}", {"name": "search", "input": '{"q":"x"}', "output": "3 hits", "mcp_data": "null"})
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, "search", {"q": "x"}, "3 hits")
    assert not reading.is_error
    error = json.dumps({"message": "Error running tool (non-fatal)", "data": {"tool_name": "search", "error": "no backend"}})
    failed = logfire(
        "Function: {name}",
        {"name": "search", "input": "{}", "output": "An error occurred while running the tool.", "error": error},
        status="ERROR",
    )
    assert (failed.arguments, failed.is_error) == ({}, True)
    assert failed.error_message is not None
    assert "Error running tool" in failed.error_message


def test_a_model_call() -> None:
    output = [
        {"type": "reasoning", "id": "rs_0", "summary": [{"type": "summary_text", "text": "look it up"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]},
        {"type": "function_call", "id": "fc_0", "call_id": "c1", "name": "search", "arguments": '{"q":"x"}'},
    ]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": "m-1",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 50,
        "gen_ai.usage.raw": '{"output_tokens_details": {"reasoning_tokens": 7}}',
        "gen_ai.response.finish_reasons": '["tool_calls"]',
        "response": json.dumps({"id": "resp_0", "output": output}),
        "raw_input": json.dumps(
            [{"role": "user", "content": "hi"}, {"type": "function_call_output", "call_id": "c0", "output": "1"}]
        ),
    }
    reading = logfire("Responses API", attributes)
    assert (reading.role, reading.model, reading.input_tokens, reading.output_tokens) == (Role.MODEL, "m-1", 100, 20)
    assert (reading.cache_read_tokens, reading.reasoning_tokens, reading.finish_reason) == (50, 7, "tool_calls")
    assert (reading.text, reading.reasoning) == ("One moment.", "look it up")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)
    assert told_by(span(attributes, scope=SCOPE)) == (Told("c0", result="1"),)
