"""What a model said is read from its stored span with the dialects that the recorder reads it with."""

from __future__ import annotations

import json

import pytest

from otel_processor.step_texts import MAX_REQUESTED, model_said

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def said(parts: list[dict[str, object]], **columns: str) -> object:
    messages = [{"role": "assistant", "parts": parts}]
    attributes = json.dumps(CHAT | {"gen_ai.output.messages": json.dumps(messages)})
    return model_said(**({"name": "chat m", "scope": "x", "attributes": attributes, "events": "[]"} | columns))


def test_text_reasoning_and_requested_tools_come_back() -> None:
    answer = said(
        [
            {"type": "reasoning", "content": "It may be there."},
            {"type": "text", "content": "Let me look."},
            {"type": "tool_call", "id": "1", "name": "search", "arguments": {"q": "cats"}},
        ]
    )
    assert answer
    assert (answer.text, answer.reasoning) == ("Let me look.", "It may be there.")  # type: ignore[attr-defined]
    (request,) = answer.requested  # type: ignore[attr-defined]
    assert (request.tool, request.arguments) == ("search", {"q": "cats"})


def test_an_event_tells_it_too() -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": json.dumps({"role": "assistant", "content": "From an event."})}
    events = json.dumps([{"name": "gen_ai.choice", "time_unix_nano": 1, "attributes": choice}])
    answer = model_said(name="chat m", scope="x", attributes=json.dumps(CHAT), events=events)
    assert answer.text == "From an event."


def test_the_requests_are_bounded() -> None:
    parts: list[dict[str, object]] = [{"type": "tool_call", "id": str(n), "name": "t", "arguments": {}} for n in range(200)]
    assert len(said(parts).requested) == MAX_REQUESTED  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("attributes", "events"),
    [(None, None), ("", ""), ("not json", "{"), ("[1, 2]", '{"a": 1}'), ("null", '[1, null, {"x": 1}]'), ("{}", '[{"name": 3}]')],
)
def test_a_span_that_says_nothing_or_is_broken_says_nothing(attributes: str | None, events: str | None) -> None:
    assert not model_said(name="x", scope="", attributes=attributes, events=events)
