from __future__ import annotations

from typing import Any

import pytest

from otel_processor.dialects.wrappers import unwrap_arguments, unwrap_result

LANGCHAIN: dict[str, Any] = {
    "input_str": "{'q': 'x'}",
    "tags": [],
    "metadata": {"langgraph_step": 3},
    "inputs": None,
    "kwargs": {"tool_call_id": "c1"},
}


@pytest.mark.parametrize(
    ("wrapped", "arguments"),
    [
        ({"args": [], "kwargs": {"q": "x"}}, {"q": "x"}),
        ({"kwargs": {"q": "x"}}, {"q": "x"}),
        ({"args": [], "sanitize_inputs_outputs": True, "kwargs": {"q": "x"}}, {"q": "x"}),
        ({"args": ["x"], "sanitize_inputs_outputs": True, "kwargs": {}}, {"args": ["x"], "kwargs": {}}),
        ({"kwargs": {"n": 1}, "args": ["x"]}, {"args": ["x"], "kwargs": {"n": 1}}),
        (LANGCHAIN, {"q": "x"}),
        (LANGCHAIN | {"inputs": {"q": "y"}}, {"q": "y"}),
        (LANGCHAIN | {"input_str": "plain"}, "plain"),
        (LANGCHAIN | {"input_str": "{broken"}, "{broken"),
        ({"name": "search", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}, {"q": "x"}),
        ({"tool_name": "search", "arguments": {"q": "x"}}, {"q": "x"}),
        ({"tool_name": "search", "arguments": None}, {}),
        ({"callId": "c1", "name": "search", "args": {"q": "x"}, "prompt_id": "p"}, {"q": "x"}),
    ],
)
def test_arguments_come_out_of_their_wrapper(wrapped: dict[str, Any], arguments: Any) -> None:
    assert unwrap_arguments(wrapped, "search").value == arguments


@pytest.mark.parametrize(
    "own",
    [
        {"kwargs": {"q": "x"}, "path": "a"},
        {"kwargs": "not a mapping"},
        {"inputs": {"q": "x"}, "kwargs": {}, "model": "m"},
        {"inputs": {"q": "x"}},
        {"args": ["x"]},
        {"input_str": "x", "language": "es"},
        {"tool_name": "another", "arguments": {"q": "x"}},
        {"callId": "c1", "name": "another", "args": {}},
        {"name": "search", "args": {}, "id": "c1", "type": "function"},
        ["args", "kwargs"],
        "kwargs",
        None,
    ],
)
def test_arguments_of_the_tools_own_are_left_alone(own: Any) -> None:
    assert unwrap_arguments(own, "search").value == own


@pytest.mark.parametrize(
    "message",
    [
        {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": {"content": "3 hits", "tool_call_id": "c1"}},
        {"type": "tool", "data": {"content": "3 hits", "id": None, "tool_call_id": "c1", "status": "success"}},
        {"content": "3 hits", "type": "tool", "tool_call_id": "c1", "id": "m-9"},
        {"content": [{"type": "text", "text": "3 hits"}], "type": "tool", "tool_call_id": "c1"},
        {"output": {"type": "tool", "data": {"content": "3 hits", "tool_call_id": "c1"}}, "kwargs": {"color": "green"}},
        {"output": "content='3 hits' name='search' tool_call_id='c1'", "kwargs": {}},
        "content='3 hits' name='search' tool_call_id='c1'",
        "ToolMessage(content=\"3 hits\", name='search', tool_call_id='c1')",
    ],
)
def test_tool_messages_are_reduced_to_their_content(message: Any) -> None:
    unwrapped = unwrap_result(message)
    assert (unwrapped.value, unwrapped.call_id, unwrapped.is_error) == ("3 hits", "c1", False)


@pytest.mark.parametrize(
    "own",
    [
        {"content": "3 hits"},
        {"output": {"hits": 3}},
        {"output": 3, "kwargs": {}, "more": 1},
        "content='3 hits' and more",
        [{"text": "a", "score": 1}],
        [],
        7,
        None,
    ],
)
def test_results_of_the_tools_own_are_left_alone(own: Any) -> None:
    assert unwrap_result(own).value == own


def test_text_blocks_are_a_text() -> None:
    assert unwrap_result([{"text": "a"}, {"type": "text", "text": "b"}]).value == "a\nb"
