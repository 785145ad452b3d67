from __future__ import annotations

import json
from typing import Any

import pytest

from otel_processor.dialects.reader import told_by
from otel_processor.model import Reading, RequestedCall, Role, Told
from tests.unit.dialects.spans import read, span

META = {
    "model": "m-1",
    "finish_reason": "tool_calls",
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 50, "cache_write_tokens": None},
        "completion_tokens_details": {"reasoning_tokens": 7},
    },
}
REPLY = {
    "role": "assistant",
    "meta": META,
    "name": None,
    "content": [
        {"reasoning": {"reasoning_text": "look it up", "extra": {}}},
        {"text": "One moment."},
        {"tool_call": {"tool_name": "search", "arguments": {"q": "x"}, "id": "c1", "extra": None}},
    ],
}


def haystack(name: str, attributes: dict[str, Any] | None = None, **fields: Any) -> Reading:
    return read(attributes, scope="haystack", name=name, **fields)


def result(call_id: str, value: str, *, error: bool = False) -> dict[str, Any]:
    origin = {"tool_name": "search", "arguments": {"q": "x"}, "id": call_id, "extra": None}
    return {"role": "tool", "meta": {}, "content": [{"tool_call_result": {"result": value, "origin": origin, "error": error}}]}


def invoker(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"haystack.component.type": "ToolInvoker", "haystack.component.output": json.dumps({"tool_messages": messages})}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("haystack.pipeline.run", Role.WORKFLOW),
        ("haystack.async_pipeline.run", Role.WORKFLOW),
        ("haystack.agent.run", Role.AGENT),
        ("haystack.agent.step", Role.OTHER),
        ("haystack.agent.step.llm", Role.MODEL),
        ("haystack.agent.step.tool", Role.TOOL),
        ("haystack.component.run", Role.OTHER),
        ("haystack.tracing.auto_enable", Role.OTHER),
    ],
)
def test_the_name_says_what_the_span_is(name: str, role: Role) -> None:
    assert haystack(name, {"haystack.agent.steps_taken": 5}).role is role


def test_a_tool_call() -> None:
    attributes = {
        "haystack.tool.name": "search",
        "haystack.agent.step.tool.input": '{"q": "x"}',
        "haystack.agent.step.tool.output": "3 hits",
    }
    reading = haystack("haystack.agent.step.tool", attributes)
    assert (reading.tool, reading.arguments, reading.result, reading.is_error) == ("search", {"q": "x"}, "3 hits", False)


def test_a_tool_that_failed() -> None:
    told = {"haystack.agent.step.tool.output": '{"error": "Failed to invoke Tool `search`"}', "haystack.tool.error": True}
    reading = haystack("haystack.agent.step.tool", {"haystack.tool.name": "search"} | told)
    assert (reading.is_error, reading.error_message) == (True, "Failed to invoke Tool `search`")
    assert haystack("haystack.agent.step.tool", {"haystack.tool.name": "search", "haystack.tool.error": True}).is_error


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("haystack.agent.step.llm", {"haystack.agent.step.llm.output": json.dumps({"replies": [REPLY]})}),
        (
            "haystack.component.run",
            {
                "haystack.component.type": "OpenAIChatGenerator",
                "haystack.component.output": json.dumps({"replies": [REPLY]}),
            },
        ),
    ],
)
def test_a_model_call(name: str, attributes: dict[str, Any]) -> None:
    reading = haystack(name, attributes)
    assert (reading.role, reading.model, reading.finish_reason) == (Role.MODEL, "m-1", "tool_calls")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.reasoning_tokens) == (100, 20, 50, 7)
    assert (reading.text, reading.reasoning) == ("One moment.", "look it up")
    assert reading.requested == (RequestedCall("c1", "search", {"q": "x"}),)


def test_a_generator_of_plain_texts_tells_its_usage_beside_them() -> None:
    output = json.dumps({"replies": ["It is 18C."], "meta": [META]})
    reading = haystack(
        "haystack.component.run", {"haystack.component.type": "OpenAIGenerator", "haystack.component.output": output}
    )
    assert (reading.role, reading.text, reading.input_tokens) == (Role.MODEL, "It is 18C.", 100)


def test_content_that_is_not_recorded() -> None:
    assert haystack("haystack.agent.step.llm").input_tokens is None
    assert haystack("haystack.agent.step.tool", {"haystack.tool.name": "search"}).arguments is None
    assert haystack("haystack.component.run", {"haystack.component.type": "ToolInvoker"}).role is Role.OTHER


def test_an_invoker_that_made_one_call_is_that_call() -> None:
    reading = haystack("haystack.component.run", invoker(result("c1", "3 hits")))
    assert (reading.role, reading.tool, reading.call_id) == (Role.TOOL, "search", "c1")
    assert (reading.arguments, reading.result, reading.is_error) == ({"q": "x"}, "3 hits", False)
    failed = haystack("haystack.component.run", invoker(result("c1", "Failed to invoke", error=True)))
    assert (failed.is_error, failed.error_message) == (True, "Failed to invoke")


def test_an_invoker_that_made_several_calls_tells_of_them() -> None:
    attributes = invoker(result("c1", "3 hits"), result("c2", "Failed to invoke", error=True))
    assert haystack("haystack.component.run", attributes).role is Role.OTHER
    assert told_by(span(attributes, scope="haystack", name="haystack.component.run")) == (
        Told("c1", "search", {"q": "x"}, "3 hits", made_here=True),
        Told("c2", "search", {"q": "x"}, "Failed to invoke", is_error=True, made_here=True),
    )


def test_openinference_calls_pipelines_and_agents_chains() -> None:
    scope, chain = "openinference.instrumentation.haystack", {"openinference.span.kind": "CHAIN"}
    assert read(chain, scope=scope, name="Pipeline.run").role is Role.WORKFLOW
    assert read(chain, scope=scope, name="Agent.run").role is Role.AGENT
    assert read({"openinference.span.kind": "LLM"}, scope=scope, name="OpenAIChatGenerator.run").role is Role.MODEL


def printed(role: str, text: str, meta: str = "{}") -> str:
    return (
        f"ChatMessage(_role=<ChatRole.{role}: '{role.lower()}'>, _content=[TextContent(text='{text}')], _name=None, _meta={meta})"
    )


def test_an_agents_usage_is_that_of_the_messages_it_adds() -> None:
    usage = "{{'model': 'm-1', 'usage': {{'prompt_tokens': {}, 'completion_tokens': 20}}}}"
    given = [printed("USER", "'prompt_tokens': 999"), printed("ASSISTANT", "before", usage.format(500))]
    own = [printed("ASSISTANT", "'prompt_tokens': 7", usage.format(100)), printed("ASSISTANT", "done", usage.format(101))]
    attributes = {
        "openinference.span.kind": "CHAIN",
        "input.value": json.dumps({"messages": given}),
        "output.value": json.dumps({"messages": given + own}),
    }
    reading = read(attributes, scope="openinference.instrumentation.haystack", name="Agent.run")
    assert (reading.role, reading.input_tokens, reading.output_tokens, reading.model) == (Role.AGENT, 201, 40, "m-1")


def test_an_agents_output_that_makes_no_sense_tells_no_usage() -> None:
    for output in (
        "[",
        "[1]",
        json.dumps({"messages": "x"}),
        json.dumps({"messages": [7, "ChatMessage(_role=<ChatRole.ASSISTANT"]}),
    ):
        attributes = {"openinference.span.kind": "CHAIN", "output.value": output}
        assert read(attributes, scope="openinference.instrumentation.haystack", name="Agent.run").input_tokens is None
