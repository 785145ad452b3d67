from __future__ import annotations

import json

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import exception, read

SESSION = {"lmnr.association.properties.session_id": "s-7"}
LLM = SESSION | {"lmnr.span.type": "LLM", "gen_ai.system": "acme", "gen_ai.request.model": "m-1"}
TOOL = SESSION | {"lmnr.span.type": "TOOL", "lmnr.span.path": ["my_task", "search"], "lmnr.span.input": '{"q":"x"}'}


@pytest.mark.parametrize(
    ("kind", "path", "role"),
    [
        ("LLM", ["a", "b"], Role.MODEL),
        ("TOOL", ["a", "b"], Role.TOOL),
        ("DEFAULT", ["a"], Role.WORKFLOW),
        ("DEFAULT", ["a", "b"], Role.OTHER),
        ("DEFAULT", None, Role.OTHER),
        ("EVALUATION", ["a"], Role.OTHER),
        ("CACHED", ["a"], Role.OTHER),
    ],
)
def test_type_and_path_say_what_the_span_is(kind: str, path: list[str] | None, role: Role) -> None:
    assert read({"lmnr.span.type": kind, "lmnr.span.path": path}).role is role


def test_a_root() -> None:
    reading = read(SESSION | {"lmnr.span.type": "DEFAULT", "lmnr.span.path": ("my_task",)}, name="my_task")
    assert (reading.agent, reading.conversation_id) == ("my_task", "s-7")


def test_what_the_conventions_say_is_more_exact() -> None:
    attributes = {"lmnr.span.type": "LLM", "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder"}
    assert read(attributes).role is Role.AGENT


def test_a_model_call_is_read_whole() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"x"}'}}
    choice = {
        "finish_reason": "tool_calls",
        "index": 0,
        "message": {"role": "assistant", "content": "One moment.", "tool_calls": [call]},
    }
    reading = read(
        LLM
        | {
            "gen_ai.response.model": "m-1-0815",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.usage.cache_read_input_tokens": 50,
            "gen_ai.usage.cache_creation_input_tokens": 8,
            "gen_ai.usage.reasoning_tokens": 7,
            "gen_ai.usage.cost": 0.5,
            "gen_ai.output.messages": json.dumps([choice]),
        },
        name="openai.chat",
    )
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "laminar", "m-1-0815", "acme")
    assert (reading.input_tokens, reading.output_tokens, reading.reasoning_tokens) == (100, 20, 7)
    assert (reading.cache_read_tokens, reading.cache_write_tokens, reading.cost_usd) == (50, 8, 0.5)
    assert (reading.text, reading.finish_reason, reading.conversation_id) == ("One moment.", "tool_calls", "s-7")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_an_answer_may_be_the_output_only() -> None:
    assert read(LLM | {"lmnr.span.output": '"Done."'}).text == "Done."


def test_a_tool_call_is_read_whole() -> None:
    reading = read(TOOL | {"lmnr.span.output": '{"hits":3}'}, name="search")
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, "search", {"q": "x"}, {"hits": 3})
    assert reading.conversation_id == "s-7"


def test_a_failed_tool_call() -> None:
    reading = read(TOOL, name="search", status="ERROR", events=[exception("ValueError", "no backend")])
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "ValueError", "no backend")
