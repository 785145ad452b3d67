"""Log records of coding agents as spans: found by their events' names, timed, and with ids of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.dialects import read_span
from otel_processor.dialects.log_records import span_of_log
from otel_processor.errors import TelemetryFormatError
from otel_processor.model import LogPart, LogRecord, Reading, Role, SpanRecord
from otel_processor.policy import Policy
from otel_processor.recording.preparing import prepare

NOW = 1_790_000_000_123_456_789
RESULT = {"tool_name": "Read", "tool_use_id": "t-1", "session.id": "s-1", "prompt.id": "p-1", "tool_input": '{"path": "a"}'}


def record(attributes: dict[str, Any], **fields: Any) -> LogRecord:
    given: dict[str, Any] = {
        "trace_id": None, "span_id": None, "time_ns": NOW, "observed_ns": NOW, "event_name": "", "body": None, "severity": 0,
        "severity_text": "", "flags": 0, "dropped_attributes": 0, "service": "", "scope": "", "scope_version": "", "resource": {},
        "extra": {},
    }  # fmt: skip
    return LogRecord(attributes=attributes, **(given | fields))


def made(attributes: dict[str, Any], **fields: Any) -> SpanRecord:
    span = span_of_log(record(attributes, **fields))
    assert span is not None
    return span


def read(attributes: dict[str, Any], **fields: Any) -> Reading:
    return read_span(made(attributes, **fields))


@pytest.mark.parametrize(
    ("attributes", "fields"),
    [
        ({"event.name": "claude_code.tool_result"}, {}),
        ({}, {"event_name": "claude_code.tool_result"}),
        ({}, {"body": "claude_code.tool_result"}),
        ({"event.name": "tool_result"}, {"body": "claude_code.tool_result"}),
        ({"event.name": "tool_result"}, {"scope": "com.anthropic.claude_code.events"}),
        ({"event.name": "tool_result"}, {"service": "claude-code"}),
        ({"event.name": "claude_code.tool_result"}, {"event_name": "event src/events.rs:12"}),
    ],
)
def test_an_event_is_found_by_its_name_wherever_that_stands(attributes: dict[str, Any], fields: dict[str, Any]) -> None:
    span = made(RESULT | attributes, **fields)
    assert span.name == "claude_code.tool_result"
    reading = read_span(span)
    assert (reading.role, reading.tool, reading.call_id, reading.arguments) == (Role.TOOL, "Read", "t-1", {"path": "a"})
    assert (reading.run_id, reading.conversation_id, reading.log) == ("p-1", "s-1", LogPart.CALL)


@pytest.mark.parametrize(
    ("attributes", "fields"),
    [
        ({"event.name": "tool_result"}, {}),
        ({"event.name": "tool_result"}, {"scope": "my.app"}),
        ({"event.name": "claude_code.hook_execution_start"}, {}),
        ({"event.name": "codex.sse_event", "event.kind": "response.created"}, {}),
        ({"event.name": "gen_ai.client.inference.operation.details"}, {"scope": "gemini-cli", "service": "gemini-cli"}),
        ({}, {"body": {"event": "claude_code.tool_result"}}),
        ({}, {"body": "GET /index.html"}),
    ],
)
def test_other_records_are_left_alone(attributes: dict[str, Any], fields: dict[str, Any]) -> None:
    assert span_of_log(record(RESULT | attributes, **fields)) is None


@pytest.mark.parametrize(
    ("time_ns", "observed_ns", "timestamp", "expected"),
    [
        (NOW, NOW + 5, "2020-01-01T00:00:00Z", NOW),
        (0, NOW, None, NOW),
        (0, NOW, "2026-09-21T14:13:20.123Z", NOW),
        (0, NOW + 10**12, "2026-09-21T14:13:20.123Z", 1_790_000_000_123_000_000),
        (0, 0, "2026-09-21T14:13:20.123Z", 1_790_000_000_123_000_000),
        (0, NOW, "yesterday", NOW),
        (0, NOW, "2026-09-21", NOW),
    ],
)
def test_when_it_happened(time_ns: int, observed_ns: int, timestamp: str | None, expected: int) -> None:
    told = {"event.name": "codex.tool_result", "duration_ms": "1500"} | ({"event.timestamp": timestamp} if timestamp else {})
    span = made(told, time_ns=time_ns, observed_ns=observed_ns)
    assert (span.end_ns, span.end_ns - span.start_ns) == (expected, 1_500_000_000)


@pytest.mark.parametrize("lasted", [-1, "long", 1e11, float("nan"), None, True])
def test_a_duration_that_is_none_counts_as_no_time(lasted: Any) -> None:
    span = made({"event.name": "codex.tool_result", "duration_ms": lasted})
    assert span.start_ns == span.end_ns == NOW


def test_a_record_without_a_time_is_malformed() -> None:
    with pytest.raises(TelemetryFormatError, match="without a time"):
        span_of_log(record({"event.name": "codex.tool_result"}, time_ns=0, observed_ns=0))
    assert span_of_log(record({"event.name": "my.event"}, time_ns=0, observed_ns=0)) is None


def test_the_same_record_is_the_same_span_and_any_other_is_another() -> None:
    told = {"event.name": "claude_code.tool_result"} | RESULT
    first = made(told)
    assert made(dict(reversed(told.items())), observed_ns=NOW + 1).span_id == first.span_id
    others = [
        made(told, time_ns=NOW + 1),
        made(told | {"tool_use_id": "t-2"}),
        made(told, trace_id="a" * 32, span_id="b" * 16),
        made(told | {"event.name": "claude_code.tool_decision"}),
    ]
    assert len({span.span_id for span in [first, *others]}) == 5
    assert len(first.trace_id) == 32
    assert len(first.span_id) == 16


def test_records_of_one_prompt_or_conversation_are_one_trace_and_those_that_name_a_trace_are_in_that() -> None:
    told = {"event.name": "claude_code.tool_result"} | RESULT
    assert made(told).trace_id == made(told | {"tool_use_id": "t-2"}).trace_id != made(told | {"prompt.id": "p-2"}).trace_id
    named = made(told, trace_id="a" * 32, span_id="b" * 16)
    assert (named.trace_id, named.parent_span_id, read_span(named).run_id) == ("a" * 32, "b" * 16, None)
    usage = {"event.name": "codex.sse_event", "event.kind": "response.completed", "input_token_count": 5, "conversation.id": "c"}
    assert made(usage).trace_id == made(usage | {"input_token_count": 6}).trace_id


def test_what_a_record_says_of_itself_is_kept() -> None:
    span = made(
        {"event.name": "codex.tool_result"}, body="text", severity=9, severity_text="INFO", event_name="event x.rs:1", flags=1,
        trace_id="a" * 32, dropped_attributes=2, extra={"schema_url": "u"},
    )  # fmt: skip
    assert span.extra["schema_url"] == "u"
    assert span.extra["otel_processor.log"] == {
        "event_name": "event x.rs:1", "body": "text", "severity_number": 9, "severity_text": "INFO", "time_unix_nano": NOW,
        "observed_time_unix_nano": NOW, "trace_id": "a" * 32, "flags": 1, "dropped_attributes_count": 2,
    }  # fmt: skip


def test_cost_and_tokens_of_claude_code_with_numbers_as_texts() -> None:
    told = {"event.name": "claude_code.api_request", "model": "m", "input_tokens": "5", "output_tokens": "7", "cost_usd": "0.25"}
    reading = read(told | {"cache_read_tokens": "100", "cache_creation_tokens": 10, "request_id": "r-1"})
    assert (reading.role, reading.model, reading.cost_usd, reading.call_id) == (Role.MODEL, "m", 0.25, "r-1")
    assert (reading.input_tokens, reading.output_tokens, reading.cache_read_tokens, reading.cache_write_tokens) == (
        115,
        7,
        100,
        10,
    )


def test_arguments_whose_end_is_missing_are_not_known() -> None:
    told = {"event.name": "claude_code.tool_result"} | RESULT
    size = len(RESULT["tool_input"])
    assert read(told | {"tool_input_size_bytes": size}).arguments == {"path": "a"}
    assert read(told | {"tool_input_size_bytes": str(size + 1)}).arguments is None
    older = {name: item for name, item in told.items() if name != "tool_input"}
    assert read(older | {"tool_parameters": '{"bash_command": "ls"}'}).arguments == {"bash_command": "ls"}


def test_a_failed_tool_says_why() -> None:
    reading = read({"event.name": "claude_code.tool_result", "success": "false", "error": "no such file"} | RESULT)
    assert (reading.is_error, reading.error_message) == (True, "no such file")


def test_codex_output_without_what_its_shell_puts_before_it() -> None:
    told = {"event.name": "codex.tool_result", "tool_name": "exec_command", "call_id": "c", "arguments": '{"cmd":"ls"}'}
    reading = read(told | {"output": "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx\n"})
    assert (reading.arguments, reading.result) == ({"cmd": "ls"}, "Process exited with code 0\nOutput:\nx\n")
    assert read(told | {"output": "Chunk ID: a1 is what I say"}).result == "Chunk ID: a1 is what I say"


def test_codex_output_that_was_cut_compares_to_nothing() -> None:
    told = {"event.name": "codex.tool_result", "tool_name": "exec_command", "output": "x" * 50, "arguments": '{"cmd":"ls"}'}
    cut, whole = prepare([made(told | {"output_truncated": True}), made(told | {"output_truncated": False})], Policy()).reads
    assert (cut.result_was_cut, whole.result_was_cut) == (True, False)


def test_codex_requests_tell_that_spans_tell_the_session_only_where_they_name_a_trace() -> None:
    told = {"event.name": "codex.api_request", "conversation.id": "c"}
    usage = {"event.name": "codex.sse_event", "event.kind": "response.completed", "input_token_count": 5, "conversation.id": "c"}
    traced = made(told, trace_id="a" * 32, span_id="b" * 16)
    assert (read_span(traced).log, traced.trace_id) == (LogPart.TRACED, made(usage).trace_id)
    assert read(told).log is LogPart.NOTE


def test_an_answer_of_gemini_cli() -> None:
    chunk = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "I think", "thought": True}, {"text": "It is "}]}}]}
    ]
    chunk += [{"candidates": [{"content": {"role": "model", "parts": [{"text": "18C"}]}}]}]

    told = {"event.name": "gemini_cli.api_response", "model": "g", "input_token_count": 100, "output_token_count": 20}
    reading = read(told | {"thoughts_token_count": 7, "finish_reasons": ["STOP"], "response_text": json.dumps(chunk)})
    assert (reading.text, reading.reasoning, reading.finish_reason) == ("It is 18C", "I think", "stop")
    assert (reading.input_tokens, reading.output_tokens, reading.reasoning_tokens) == (100, 27, 7)


def test_qwen_code_tells_what_gemini_cli_does() -> None:
    told = {"event.name": "qwen-code.tool_call", "function_name": "read_file", "function_args": '{"path":"a"}', "session.id": "s"}
    reading = read(told)
    assert (reading.role, reading.tool, reading.arguments) == (Role.TOOL, "read_file", {"path": "a"})
    assert (reading.agent, reading.conversation_id) == ("qwen-code", "s")


def test_a_span_of_somebody_cannot_be_taken_for_a_record_by_what_a_record_brings() -> None:
    told = RESULT | {"event.name": "claude_code.tool_result", "otel_processor.log.apart": True}
    span = made(told, trace_id="a" * 32, span_id="b" * 16)
    assert "otel_processor.log.apart" not in span.attributes
    assert read_span(replace(span, attributes=RESULT)).log is None


names = st.sampled_from(["claude_code.", "codex.", "gemini_cli."])
events = st.sampled_from(
    "tool_result tool_call api_request api_response api_error sse_event assistant_response user_prompt websocket_event".split()
)
keys = st.sampled_from(
    """tool_name tool_use_id call_id session.id prompt.id conversation.id event.timestamp duration_ms tool_input
    tool_input_size_bytes success error model input_tokens output_tokens cost_usd request_id response arguments output
    output_truncated agent_name input_token_count output_token_count thoughts_token_count finish_reasons response_text
    function_name function_args event.kind""".split()
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=6
)


@given(names, events, st.dictionaries(keys, values), st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_nothing_that_a_record_says_raises(prefix: str, event: str, told: dict[str, Any], time_ns: int, observed_ns: int) -> None:
    try:
        span = span_of_log(record(told | {"event.name": prefix + event}, time_ns=time_ns, observed_ns=observed_ns))
    except TelemetryFormatError:
        return
    if span is not None:
        assert 0 < span.start_ns <= span.end_ns
        assert read_span(span).log is not None
        assert prepare([span], Policy()).unusable == 0
