from __future__ import annotations

from typing import Any

import pytest

from otel_processor.dialects.reader import told_by
from otel_processor.model import NOTHING, Reading, Role, Told
from tests.unit.dialects.spans import event, read, span

SCOPE = "com.anthropic.claude_code.tracing"
SESSION = {"session.id": "sess-7", "user.id": "u"}


def claude(kind: str, attributes: dict[str, Any] | None = None, **fields: Any) -> Reading:
    return read(SESSION | {"span.type": kind} | (attributes or {}), scope=SCOPE, name=f"claude_code.{kind}", **fields)


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("interaction", Role.AGENT),
        ("llm_request", Role.MODEL),
        ("tool", Role.TOOL),
        ("tool.execution", Role.OTHER),
        ("tool.blocked_on_user", Role.OTHER),
        ("hook", Role.OTHER),
    ],
)
def test_the_type_says_what_the_span_is(kind: str, role: Role) -> None:
    reading = claude(kind, {"gen_ai.request.model": "m-1"})
    assert (reading.role, reading.conversation_id) == (role, "sess-7")


def test_the_root() -> None:
    reading = claude("interaction", {"user_prompt": "hi", "interaction.sequence": 1})
    assert (reading.agent, reading.dialect) == ("claude-code", "claude_code")


def test_cached_tokens_are_counted_beside_the_input() -> None:
    reading = claude(
        "llm_request",
        {
            "model": "m-1",
            "gen_ai.system": "anthropic",
            "input_tokens": 50,
            "output_tokens": 20,
            "cache_read_tokens": 40,
            "cache_creation_tokens": 10,
            "success": True,
            "stop_reason": "tool_use",
            "agent_id": "a1",
        },
    )
    assert (reading.input_tokens, reading.output_tokens) == (100, 20)
    assert (reading.cache_read_tokens, reading.cache_write_tokens) == (40, 10)
    assert (reading.model, reading.provider, reading.finish_reason) == ("m-1", "anthropic", "tool_calls")
    assert (reading.agent, reading.is_error) == ("a1", False)


def test_a_request_that_failed() -> None:
    reading = claude("llm_request", {"model": "m-1", "success": False, "error": "overloaded", "status_code": 529})
    assert (reading.is_error, reading.error_message, reading.input_tokens) == (True, "overloaded", None)


def test_a_tool_call() -> None:
    reading = claude(
        "tool",
        {"tool_name": "Read", "file_path": "/a.txt", "tool_use_id": "t1", "gen_ai.tool.call.id": "t1"},
        events=[event("tool.output", file_path="/a.txt", content="18C")],
    )
    assert (reading.tool, reading.call_id, reading.arguments, reading.result) == ("Read", "t1", {"file_path": "/a.txt"}, "18C")
    bash = claude("tool", {"tool_name": "Bash", "full_command": "ls"}, events=[event("tool.output", output="a.txt")])
    assert (bash.arguments, bash.result) == ({"command": "ls"}, "a.txt")


def test_a_path_alone_does_not_say_what_an_edit_changed() -> None:
    assert claude("tool", {"tool_name": "Edit", "file_path": "/a.txt"}).arguments is None
    assert claude("tool", {"tool_name": "Agent", "subagent_type": "explorer"}).arguments is None


def test_withheld_content_is_unknown() -> None:
    reading = claude(
        "tool", {"tool_name": "Bash", "full_command": "<REDACTED>"}, events=[event("tool.output", content="<REDACTED>")]
    )
    assert (reading.arguments, reading.result) == (None, None)


def test_a_child_tells_how_the_tool_ended() -> None:
    attributes = {"span.type": "tool.execution", "tool_use_id": "t1", "success": False, "error": "no such file"}
    failed = span(attributes, scope=SCOPE, name="claude_code.tool.execution", status="ERROR")
    assert told_by(failed) == (Told("t1", is_error=True, error_message="no such file"),)
    went_well = span(attributes | {"success": True}, scope=SCOPE, name="claude_code.tool.execution")
    assert told_by(went_well) == ()


def test_others_may_use_the_same_key() -> None:
    assert read({"span.type": "tool", "input_tokens": 3}, name="cache.get") is NOTHING
