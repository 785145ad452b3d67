from __future__ import annotations

from otel_processor.dialects.reader import told_by
from otel_processor.model import NOTHING, Role, Told
from tests.unit.dialects.spans import event, read, span

NOISE = {"code.file.path": "core/src/tools/parallel.rs", "thread.id": 3, "busy_ns": 1, "idle_ns": 2}
DISPATCH = NOISE | {
    "tool_name": "exec_command",
    "conversation.id": "conv",
    "turn.id": "turn-1",
    "call_id": "c1",
    "codex.tool.phase": "dispatch",
    "aborted": False,
}


def test_a_turn_is_the_task() -> None:
    reading = read(
        NOISE
        | {
            "thread.id": "01a2-thread",
            "model": "m-1",
            "codex.turn.token_usage.input_tokens": 510,
            "codex.turn.token_usage.cached_input_tokens": 250,
            "codex.turn.token_usage.output_tokens": 100,
            "codex.turn.token_usage.reasoning_output_tokens": 35,
            "codex.turn.token_usage.total_tokens": 610,
        },
        name="session_task.turn",
    )
    assert (reading.role, reading.agent, reading.conversation_id, reading.model) == (Role.AGENT, "codex", "01a2-thread", "m-1")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.reasoning_tokens) == (
        510,
        100,
        250,
        35,
    )


def test_a_request_to_the_model() -> None:
    reading = read(
        NOISE
        | {
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.cache_read.input_tokens": 50,
            "gen_ai.usage.output_tokens": 20,
            "codex.usage.reasoning_output_tokens": 7,
            "codex.usage.total_tokens": 120,
        },
        name="handle_responses",
    )
    assert (reading.role, reading.dialect) == (Role.MODEL, "codex")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.reasoning_tokens) == (100, 20, 50, 7)
    assert read(NOISE, name="handle_responses") is NOTHING


def test_a_tool_call() -> None:
    reading = read(DISPATCH, name="exec_command")
    assert (reading.role, reading.tool, reading.call_id) == (Role.TOOL, "exec_command", "c1")
    assert (reading.conversation_id, reading.arguments, reading.result, reading.is_error) == ("conv", None, None, False)
    assert read(DISPATCH | {"codex.tool.phase": "queue"}, name="exec_command").role is Role.OTHER


def test_a_call_that_was_aborted() -> None:
    assert read(DISPATCH | {"aborted": True}, name="exec_command").is_error


def test_an_event_on_a_child_tells_how_the_tool_ended() -> None:
    def child(success: str) -> tuple[Told, ...]:
        facts = {"event__name": "codex.tool_result", "tool_name": "exec_command", "call_id": "c1", "success": success}
        return told_by(span(NOISE, scope="codex_exec", name="dispatch", events=[event("event otel/src/tool_result.rs", **facts)]))

    assert child("false") == (Told("c1", "exec_command", is_error=True),)
    assert child("true") == ()
