from __future__ import annotations

from typing import Any

import pytest

from otel_processor.dialects.stops import stop_by_failure
from tests.unit.dialects.spans import exception, read, span

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
AGENTS = "opentelemetry.instrumentation.openai_agents"
AGNO = "opentelemetry.instrumentation.agno"


def with_result(result: Any) -> dict[str, Any]:
    return TOOL | {"gen_ai.tool.call.result": result}


@pytest.mark.parametrize(
    ("attributes", "span_fields", "kind", "message"),
    [
        (TOOL, {"status": "ERROR", "status_message": "no backend"}, None, "no backend"),
        (TOOL, {"status": "ERROR"}, None, None),
        (TOOL, {"events": [exception("ValueError", "no backend")]}, "ValueError", "no backend"),
        (TOOL, {"status": "ERROR", "events": [exception("a.B", "first"), exception("a.C", "last")]}, "a.C", "last"),
        (TOOL | {"error.type": "timeout"}, {}, "timeout", "timeout"),
        (TOOL | {"error.type": "File does not exist."}, {"status": "ERROR"}, None, "File does not exist."),
        (TOOL | {"error.type": "unknown", "error.message": "no backend"}, {}, None, "no backend"),
        (TOOL | {"tool.status": "error"}, {"status": "OK"}, None, None),
        (TOOL | {"gen_ai.task.status": "failure"}, {}, None, None),
        (with_result('{"status": "error", "error_message": "no backend"}'), {}, None, "no backend"),
        (with_result('{"status": "Error", "error": {"message": "no backend", "code": 7}}'), {}, None, "no backend"),
        (with_result({"error": "no backend"}), {}, None, "no backend"),
        (with_result({"success": False, "error": "no backend"}), {}, None, "no backend"),
        (with_result({"ok": False, "error": "channel_not_found", "channel": "C1"}), {}, None, "channel_not_found"),
        (with_result({"error": "no such order", "code": 404, "requestId": "r1"}), {}, None, "no such order"),
        (with_result('{"is_error": true, "message": "no backend"}'), {}, None, "no backend"),
        (with_result('{"isError": true, "message": "no backend"}'), {}, None, "no backend"),
        (
            with_result("An error occurred while running the tool: no"),
            {"scope": AGENTS},
            None,
            "An error occurred while running the tool: no",
        ),
        (with_result("status='failure' result=None error='no backend'"), {"scope": AGNO, "status": "OK"}, None, "no backend"),
        (with_result("Error: no backend"), {"status": "ERROR"}, None, "Error: no backend"),
    ],
)
def test_shapes_of_failures(
    attributes: dict[str, Any], span_fields: dict[str, Any], kind: str | None, message: str | None
) -> None:
    reading = read(attributes, **span_fields)
    assert reading.is_error
    assert (reading.error_type, reading.error_message) == (kind, message)


@pytest.mark.parametrize(
    "result",
    [
        "no error was found in the log",
        "Error handling in Python: a guide",
        "An error occurred while running the tool",
        "status='failure'",
        '{"error": null, "rows": []}',
        '{"error": ""}',
        '{"error": "none so far", "rows": [1]}',
        '{"error": "none", "success": true}',
        '{"error": "deprecated field", "ok": true}',
        '{"error": "None", "code": 200}',
        '{"error": "exit code 1", "status": "failed"}',
        '{"status": "failed", "order": 7}',
        '{"is_error": false}',
        '{"isError": false, "content": []}',
        '[{"error": "x"}]',
        "{'error'",
    ],
)
def test_healthy_results_that_mention_errors(result: str) -> None:
    reading = read(with_result(result))
    assert not reading.is_error
    assert reading.error_message is None


def test_an_exception_that_was_overcome_is_no_failure() -> None:
    assert not read(TOOL, status="OK", events=[exception("Timeout", "once")]).is_error


def test_a_traceback_is_reduced_to_its_last_line() -> None:
    told = "ValueError('x')Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n\nValueError: no backend\n"
    assert read(TOOL, status="ERROR", status_message=told).error_message == "ValueError: no backend"


def test_a_bare_type_is_no_message() -> None:
    assert read(with_result("try again"), status="ERROR", status_message="ToolRetryError: ").error_message == "try again"


def test_a_failed_tool_message_is_a_failure() -> None:
    reading = read(with_result({"type": "tool", "data": {"content": "no backend", "tool_call_id": "c1", "status": "error"}}))
    assert (reading.is_error, reading.result, reading.error_message, reading.call_id) == (True, "no backend", "no backend", "c1")


def test_long_messages_are_cut() -> None:
    message = read(TOOL, status="ERROR", status_message="x" * 100_000).error_message
    assert message is not None
    assert len(message) == 4_000


@pytest.mark.parametrize(
    "told",
    [
        {"events": [exception("langgraph.errors.GraphInterrupt", "(Interrupt(value='ok?'),)")], "status": "OK"},
        {"events": [exception("Exception", "GraphInterrupt((Interrupt(value='ok?'),))")], "status": "ERROR"},
        {"attributes": {"error.type": "GraphInterrupt"}, "status": "ERROR"},
        {"attributes": {"langfuse.observation.status_message": "(Interrupt(value='ok?', id='1'),)"}},
    ],
)
def test_asking_a_human_is_no_failure(told: dict[str, Any]) -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ask"} | told.get("attributes", {})
    fields = {name: value for name, value in told.items() if name != "attributes"}
    assert not read(attributes, **fields).is_error
    assert stop_by_failure(span(attributes, **fields)) == "handed_to_human"
