"""The answer is found in whole responses of clients, and nothing in there raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.dialects import names
from otel_processor.dialects.reader import DIALECTS
from otel_processor.dialects.responses import object_in, read_response
from otel_processor.model import Reading, RequestedCall
from tests.unit.dialects.spans import read

ASKED = (RequestedCall("c1", "search", {"q": "x"}),)
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"x"}'}}


CHOICE = {"finish_reason": "tool_calls", "message": {"content": "Hm.", "tool_calls": [OPENAI_CALL]}}
ANTHROPIC = [{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}}]
ITEMS = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "look it up"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
    {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"q":"x"}'},
]
GEMINI = [{"text": "Hm."}, {"functionCall": {"id": "c1", "name": "search", "args": {"q": "x"}}}]
GENKIT = [{"text": "Hm."}, {"toolRequest": {"ref": "c1", "name": "search", "input": {"q": "x"}}}]
LANGCHAIN = {"content": ANTHROPIC, "tool_calls": [{"name": "search", "args": {"q": "x"}, "id": "c1"}]}
GENERATION = {"generation_info": {"finish_reason": "tool_calls"}, "message": {"lc": 1, "kwargs": LANGCHAIN}}
VERCEL = {
    "text": "Hm.",
    "toolCalls": [{"toolCallId": "c1", "toolName": "search", "input": {"q": "x"}}],
    "finishReason": "tool-calls",
}


@pytest.mark.parametrize(
    ("response", "finish_reason"),
    [
        ({"choices": [CHOICE]}, "tool_calls"),
        ({"role": "assistant", "stop_reason": "tool_use", "content": ANTHROPIC}, "tool_use"),
        ({"output": ITEMS}, None),
        ({"candidates": [{"content": {"role": "model", "parts": GEMINI}, "finishReason": "STOP"}]}, "STOP"),
        ({"message": {"role": "model", "content": GENKIT}, "finishReason": "stop"}, "stop"),
        ({"generations": [[GENERATION]]}, "tool_calls"),
        ({"lc": 1, "kwargs": LANGCHAIN | {"response_metadata": {"finish_reason": "tool_calls"}}}, "tool_calls"),
        (VERCEL, "tool-calls"),
    ],
)
def test_the_answer_is_found(response: dict[str, Any], finish_reason: str | None) -> None:
    for given_as in (response, json.dumps(response)):
        said = read_response(given_as)
        assert (said.text, said.requested, said.finish_reason) == ("Hm.", ASKED, finish_reason)


def test_a_plain_text_is_what_was_said() -> None:
    assert read_response("Done.").text == "Done."
    assert read_response('"Done."').text == "Done."
    assert read_response(None).text is None


def test_an_object_is_found_in_text_or_as_such() -> None:
    assert object_in('{"a": 1}') == object_in({"a": 1}) == {"a": 1}
    assert object_in("[1]") == object_in(None) == object_in(7) == {}


words = st.sampled_from(
    """choices generations candidates output message content parts kwargs lc text toolCalls tool_calls function name arguments
    role type usage input inputTokens outputTokens thoughtsTokens totalTokens total cache_read_input_tokens input_cache_read
    prompt_tokens_details usage_metadata input_token_details generation_info response_metadata summary reasoning gateway cost
    openrouter finishReason finish_reason functionCall toolRequest id""".split()
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | words
nested = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=5), max_leaves=12
)
kinds = st.sampled_from(
    """llm generation "CHAT_MODEL" LLM model model_inference tool "TOOL" TOOL tool_call chat ai.streamText.doStream ai.toolCall
    session chain DEFAULT flow anthropic.messages anthropic""".split()
)
keys = st.sampled_from(sorted(value for name, value in vars(names).items() if name.isupper()))
contents = nested | nested.map(json.dumps) | nested.map(str)


@given(nested | nested.map(json.dumps))
def test_no_response_raises(value: Any) -> None:
    read_response(value)
    object_in(value)


@given(st.dictionaries(keys, kinds, max_size=4), st.dictionaries(keys, contents, max_size=8), st.sampled_from(DIALECTS))
def test_no_content_of_a_known_kind_raises(told: dict[str, Any], more: dict[str, Any], dialect: Any) -> None:
    marked = dict.fromkeys(list(dialect.markers)[:1], next(iter(told.values()), "chat"))
    assert isinstance(read(more | told | marked, scope=next(iter(dialect.scopes), "")), Reading)
