from __future__ import annotations

import json

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import exception, read

CHAT = {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.llm.model": '"m-1"', "mlflow.llm.provider": '"acme"'}
TOOL = {"mlflow.spanType": '"TOOL"', "mlflow.spanFunctionName": '"_search"', "mlflow.spanInputs": '{"q": "x"}'}


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ('"CHAT_MODEL"', Role.MODEL),
        ('"LLM"', Role.MODEL),
        ('"TOOL"', Role.TOOL),
        ('"AGENT"', Role.AGENT),
        ('"CHAIN"', Role.OTHER),
        ('"UNKNOWN"', Role.OTHER),
        ("TOOL", Role.TOOL),
    ],
)
def test_type_says_what_the_span_is(kind: str, role: Role) -> None:
    assert read({"mlflow.spanType": kind}).role is role


def test_a_root() -> None:
    reading = read(
        {"mlflow.spanType": '"AGENT"', "session.id": '"s-7"', "mlflow.chat.tokenUsage": '{"input_tokens": 510}'}, name="finder"
    )
    assert (reading.role, reading.agent, reading.conversation_id, reading.input_tokens) == (Role.AGENT, "finder", "s-7", 510)


def test_a_model_call_is_read_whole() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"x"}'}}
    message = {"role": "assistant", "content": "One moment.", "reasoning_content": "look it up", "tool_calls": [call]}
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 8}
    reading = read(
        CHAT
        | {
            "mlflow.spanOutputs": json.dumps({"choices": [{"finish_reason": "tool_calls", "message": message}]}),
            "mlflow.chat.tokenUsage": json.dumps(usage),
            "mlflow.llm.cost": '{"total_cost": 0.5}',
        }
    )
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "mlflow", "m-1", "acme")
    assert (reading.input_tokens, reading.output_tokens) == (100, 20)
    assert (reading.cache_read_tokens, reading.cache_write_tokens, reading.cost_usd) == (50, 8, 0.5)
    assert (reading.text, reading.reasoning, reading.finish_reason) == ("One moment.", "look it up", "tool_calls")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_what_a_function_returned_is_what_the_model_said() -> None:
    assert read(CHAT | {"mlflow.spanOutputs": '"Done."'}).text == "Done."


def test_a_tool_call_is_read_whole() -> None:
    reading = read(TOOL | {"mlflow.spanOutputs": '{"hits": 3}'}, name="search")
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, "search", {"q": "x"}, {"hits": 3})
    assert read(TOOL | {"mlflow.spanOutputs": '"3 hits"'}, name="search").result == "3 hits"
    assert read(TOOL, name="").tool == "_search"


def test_a_failed_tool_call() -> None:
    reading = read(TOOL, status="ERROR", status_message="ValueError: no backend", events=[exception("ValueError", "no backend")])
    assert (reading.is_error, reading.error_type, reading.error_message) == (True, "ValueError", "no backend")
