from __future__ import annotations

from otel_processor.model import NOTHING, Role
from tests.unit.dialects.spans import exception, read

CALL = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "search", "gen_ai.operation.name": "execute_tool"}


def test_fastmcp_and_the_conventions() -> None:
    reading = read(
        CALL | {"fastmcp.component.key": "tool:search", "mcp.session.id": "s"}, scope="fastmcp", name="tools/call search"
    )
    assert (reading.role, reading.tool, reading.arguments, reading.result) == (Role.TOOL, "search", None, None)
    content = {"gen_ai.tool.call.arguments": {"q": "x"}, "gen_ai.tool.call.result": "3 hits"}
    assert read(CALL | content).arguments == {"q": "x"}


def test_a_failure() -> None:
    reading = read(
        CALL | {"error.type": "tool_error"},
        status="ERROR",
        status_message="Error calling tool 'search'",
        events=[exception("fastmcp.exceptions.ToolError", "no backend")],
    )
    assert (reading.is_error, reading.error_message) == (True, "no backend")


def test_what_the_sdk_sends_is_no_second_call() -> None:
    assert read(CALL, name="MCP send tools/call search", scope="mcp-python-sdk").role is Role.OTHER
    assert read({"mcp.method.name": "tools/list"}, name="tools/list") is NOTHING


def test_traceloop_tells_a_call_on_both_sides() -> None:
    tool = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "search",
        "traceloop.entity.input": '{"tool_name": "search", "arguments": {"q": "x"}}',
    }
    client = read(tool | {"traceloop.entity.output": '{"result": "3 hits"}'}, name="search.tool")
    assert (client.role, client.arguments, client.result) == (Role.TOOL, {"q": "x"}, {"result": "3 hits"})
    server = read(tool | {"traceloop.workflow.name": "finder.mcp"}, name="search.tool")
    assert server.role is Role.OTHER
    failed = read(
        tool | {"traceloop.entity.output": '{"result": "no backend", "is_error": true}', "error.type": "tool_error"},
        status="ERROR",
    )
    assert (failed.is_error, failed.error_type) == (True, "tool_error")
