from __future__ import annotations

import json

import pytest

from otel_processor.model import RequestedCall, Role
from tests.unit.dialects.spans import exception, read

META = {
    "langsmith.metadata.lc_agent_name": "finder",
    "langsmith.metadata.thread_id": "t-42",
    "langsmith.metadata.langgraph_node": "model",
}
LLM = META | {"langsmith.span.kind": "llm", "gen_ai.operation.name": "chat", "gen_ai.system": "langchain"}
TOOL = META | {
    "langsmith.span.kind": "tool",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "search",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.prompt": '{"q":"x"}',
}


@pytest.mark.parametrize(
    ("kind", "operation", "role"),
    [
        ("llm", "chat", Role.MODEL),
        ("tool", "execute_tool", Role.TOOL),
        ("chain", "chain", Role.OTHER),
        ("prompt", "chat", Role.OTHER),
        ("retriever", "embeddings", Role.OTHER),
    ],
)
def test_kind_goes_before_the_operation(kind: str, operation: str, role: Role) -> None:
    assert read({"langsmith.span.kind": kind, "gen_ai.operation.name": operation}).role is role


def test_the_outermost_run_of_an_agent_is_the_agent() -> None:
    chain = {"langsmith.span.kind": "chain", "langsmith.metadata.lc_agent_name": "finder", "langsmith.metadata.session_id": "s-7"}
    root = read(chain, name="my_task")
    assert (root.role, root.agent, root.conversation_id) == (Role.AGENT, "finder", "s-7")
    assert read(chain | {"langsmith.metadata.langgraph_node": "tools"}).role is Role.OTHER


def test_a_model_call_is_read_whole() -> None:
    usage = {
        "input_tokens": 100,
        "output_tokens": 20,
        "input_token_details": {"cache_read": 50, "cache_creation": 8},
        "output_token_details": {"reasoning": 7},
        "total_cost": 0.5,
    }
    message = {
        "lc": 1,
        "type": "constructor",
        "id": ["AIMessage"],
        "kwargs": {
            "content": [{"type": "reasoning", "reasoning": "look it up"}, {"type": "text", "text": "One moment."}],
            "tool_calls": [{"name": "search", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}],
        },
    }
    generation = {"text": "One moment.", "generation_info": {"finish_reason": "tool_calls"}, "message": message}
    reading = read(
        LLM
        | {
            "gen_ai.request.model": "m-1",
            "gen_ai.usage.input_tokens": "100",
            "langsmith.metadata.ls_provider": "acme",
            "langsmith.metadata.usage_metadata": json.dumps(usage),
            "gen_ai.completion": json.dumps({"generations": [[generation]]}),
        }
    )
    assert (reading.role, reading.dialect, reading.model, reading.provider) == (Role.MODEL, "langsmith", "m-1", "acme")
    assert (reading.input_tokens, reading.output_tokens, reading.reasoning_tokens) == (100, 20, 7)
    assert (reading.cache_read_tokens, reading.cache_write_tokens, reading.cost_usd) == (50, 8, 0.5)
    assert (reading.text, reading.reasoning, reading.finish_reason) == ("One moment.", "look it up", "tool_calls")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_a_traced_openai_call() -> None:
    completion = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}]}
    details = {"gen_ai.usage.input_token_details": "{'cache_read': 50}", "gen_ai.usage.input_tokens": 100}
    reading = read(LLM | details | {"gen_ai.completion": json.dumps(completion)})
    assert (reading.text, reading.finish_reason) == ("Done.", "stop")
    assert (reading.input_tokens, reading.cache_read_tokens) == (100, 50)


def test_a_tool_call_is_read_whole() -> None:
    message = {"content": "3 hits", "type": "tool", "name": "search", "tool_call_id": "c1", "status": "success"}
    reading = read(TOOL | {"gen_ai.completion": json.dumps({"output": message})})
    assert (reading.role, reading.tool, reading.call_id, reading.agent) == (Role.TOOL, "search", "c1", "finder")
    assert (reading.arguments, reading.result, reading.conversation_id) == ({"q": "x"}, "3 hits", "t-42")


def test_arguments_that_were_handed_on_as_text() -> None:
    assert read(TOOL | {"gen_ai.prompt": "{\"input\":\"{'q': 'x'}\"}"}).arguments == {"q": "x"}
    assert read(TOOL | {"gen_ai.prompt": '{"input":"Paris"}'}).arguments == {"input": "Paris"}


def test_a_failed_tool_call_has_no_result() -> None:
    event = exception(
        "Exception", "ValueError('no backend')\n\nTraceback (most recent call last):\n  line\nValueError: no backend"
    )
    reading = read(TOOL | {"gen_ai.completion": "{}"}, status="ERROR", events=[event])
    assert (reading.is_error, reading.error_message, reading.result) == (True, "ValueError: no backend", None)
