from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import read

GENERATION = {"langfuse.observation.type": "generation", "langfuse.observation.model.name": "m-1", "session.id": "s-7"}
TOOL = {"langfuse.observation.type": "tool", "session.id": "s-7"}


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("generation", Role.MODEL),
        ("tool", Role.TOOL),
        ("agent", Role.AGENT),
        ("span", Role.OTHER),
        ("chain", Role.OTHER),
        ("embedding", Role.OTHER),
        ("event", Role.OTHER),
    ],
)
def test_type_says_what_the_span_is(kind: str, role: Role) -> None:
    assert read({"langfuse.observation.type": kind}).role is role


def test_the_root_of_an_application_stands_for_the_task() -> None:
    root = {"langfuse.internal.is_app_root": True, "session.id": "s-7"}
    reading = read(root | {"langfuse.observation.type": "span"}, name="my_task")
    assert (reading.role, reading.agent, reading.conversation_id) == (Role.WORKFLOW, "my_task", "s-7")
    assert read(root | {"langfuse.observation.type": "generation"}).role is Role.MODEL
    chain = {"langfuse.observation.type": "chain", "langfuse.observation.metadata.lc_agent_name": '"finder"'}
    assert read(root | chain, name="my_task").agent == "finder"


def test_a_model_call_is_read_whole() -> None:
    message = {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "look it up"}, {"type": "text", "text": "One moment."}],
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"x"}'}}],
    }
    usage = {"input": 50, "output": 13, "total": 120, "input_cache_read": 50, "output_reasoning": 7}
    reading = read(
        GENERATION
        | {
            "langfuse.observation.output": json.dumps(message),
            "langfuse.observation.usage_details": json.dumps(usage),
            "langfuse.observation.cost_details": '{"input": 0.25, "output": 0.5, "total": 0.75}',
        }
    )
    assert (reading.role, reading.dialect, reading.model, reading.conversation_id) == (Role.MODEL, "langfuse", "m-1", "s-7")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.reasoning_tokens) == (100, 20, 50, 7)
    assert (reading.text, reading.reasoning, reading.cost_usd) == ("One moment.", "look it up", 0.75)
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        # The total is the sum of all buckets: they exclude each other.
        ({"input": 50, "output": 13, "total": 120, "input_cache_read": 50, "output_reasoning": 7}, (100, 20, 50, 7)),
        # The total is input and output: the details are parts of them.
        ({"input": 100, "output": 20, "total": 120, "cache_read_input_tokens": 50, "output_reasoning": 7}, (100, 20, 50, 7)),
        ({"input": 50, "output": 20, "total": 120, "input_cache_read": 50, "output_reasoning": 7}, (100, 20, 50, 7)),
        # No total: the buckets are its parts, and so they exclude each other.
        ({"input": 50, "output": 20, "cache_read_input_tokens": 50}, (100, 20, 50, None)),
        ({"input": 50, "output": 20, "input_cache_read": 30, "input_cache_creation": 20}, (100, 20, 30, None)),
        # A service tier tells tokens again that were counted.
        ({"input": 100, "output": 20, "input_priority": 100}, (100, 20, None, None)),
        # OpenAI's own shape.
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 50},
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
            (100, 20, 50, 7),
        ),
        ({"input": "many"}, (None, None, None, None)),
        ([], (None, None, None, None)),
    ],
)
def test_counts(usage: Any, tokens: tuple[int | None, ...]) -> None:
    reading = read(GENERATION | {"langfuse.observation.usage_details": json.dumps(usage)})
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.reasoning_tokens) == tokens


def test_costs_without_a_total_add_up() -> None:
    assert read(GENERATION | {"langfuse.observation.cost_details": '{"input": 0.25, "output": 0.5}'}).cost_usd == 0.75
    assert read(GENERATION | {"langfuse.observation.cost_details": "{}"}).cost_usd is None


def test_a_tool_call_is_read_whole() -> None:
    reading = read(
        TOOL | {"langfuse.observation.input": '{"args": [], "kwargs": {"q": "x"}}', "langfuse.observation.output": '{"hits": 3}'},
        name="search",
    )
    assert (reading.role, reading.tool, reading.conversation_id) == (Role.TOOL, "search", "s-7")
    assert (reading.arguments, reading.result) == ({"q": "x"}, {"hits": 3})


def test_a_failed_tool_call_is_told_by_its_level() -> None:
    reading = read(
        TOOL | {"langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "no backend"}, name="search"
    )
    assert (reading.is_error, reading.error_message) == (True, "no backend")
    assert not read(TOOL | {"langfuse.observation.level": "WARNING"}).is_error
