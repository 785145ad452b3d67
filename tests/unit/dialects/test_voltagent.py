from __future__ import annotations

from typing import Any

import pytest

from otel_processor.model import Role
from tests.unit.dialects.spans import exception, read

WHO = {"entity.type": "agent", "entity.name": "finder", "conversation.id": "s-7"}
LLM = WHO | {"span.type": "llm", "llm.model": "acme/m-1", "llm.provider": "acme"}
TOOL = WHO | {
    "span.type": "tool",
    "tool.name": "search",
    "tool.call.id": "c1",
    "tool.parameters": '{"type":"object"}',
    "input": '{"q":"x"}',
}


@pytest.mark.parametrize(
    ("attributes", "role"),
    [
        ({"entity.type": "agent"}, Role.AGENT),
        ({"entity.type": "workflow"}, Role.WORKFLOW),
        ({"entity.type": "agent", "span.type": "llm"}, Role.MODEL),
        ({"entity.type": "agent", "span.type": "tool"}, Role.TOOL),
        ({"entity.type": "agent", "span.type": "memory"}, Role.OTHER),
        ({"entity.type": "agent", "span.type": "scorer"}, Role.OTHER),
        ({"entity.type": "workflow", "span.type": "workflow-step"}, Role.OTHER),
    ],
)
def test_the_inner_type_goes_before_the_entity(attributes: dict[str, Any], role: Role) -> None:
    assert read(attributes).role is role


def test_a_root() -> None:
    usage = {
        "usage.prompt_tokens": 510,
        "usage.completion_tokens": 100,
        "ai.response.finish_reason": "stop",
        "ai.model.name": "m-1",
    }
    reading = read(WHO | usage, name="generateText")
    assert (reading.role, reading.agent, reading.conversation_id) == (Role.AGENT, "finder", "s-7")
    assert (reading.input_tokens, reading.output_tokens, reading.finish_reason) == (510, 100, "stop")


def test_spans_of_a_subagent_carry_its_parent_as_the_entity() -> None:
    assert read(TOOL | {"subagent.name": "helper", "subagent.type": "agent"}).agent == "helper"


def test_a_model_call_is_read_whole() -> None:
    reading = read(
        LLM
        | {
            "llm.usage.prompt_tokens": 100,
            "llm.usage.completion_tokens": 20,
            "llm.usage.cached_tokens": 50,
            "llm.usage.reasoning_tokens": 7,
            "llm.finish_reason": "tool-calls",
            "usage.cost": 0.5,
        },
        name="llm:generateText",
    )
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "voltagent", "acme/m-1", "acme")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.reasoning_tokens) == (100, 20, 50, 7)
    assert (reading.cost_usd, reading.finish_reason, reading.agent) == (0.5, "tool_calls", "finder")


def test_a_tool_call_is_read_whole() -> None:
    reading = read(TOOL | {"output": '{"hits":3}'}, name="tool.execution:search", status="OK")
    assert (reading.role, reading.tool, reading.call_id, reading.agent) == (Role.TOOL, "search", "c1", "finder")
    assert (reading.arguments, reading.result, reading.conversation_id) == ({"q": "x"}, {"hits": 3}, "s-7")


def test_the_schema_of_a_tool_is_never_taken_for_arguments() -> None:
    assert read({key: value for key, value in TOOL.items() if key != "input"}).arguments is None


def test_a_failed_tool_call() -> None:
    failed = {"error.type": "Error", "error.message": "no backend"}
    reading = read(TOOL | failed, status="ERROR", status_message="no backend", events=[exception("Error", "no backend")])
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "Error", "no backend")
