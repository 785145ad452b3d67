"""Sessions of coding agents as OTLP/JSON, written after what their makers document: log records, with or without spans.

Each asks its model five times, reads the same file three times, fails once, and answers.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

START = 1_790_000_000_000_000_000
MS = 1_000_000
TURNS = ("weather.txt", "weather.txt", "weather.txt", "missing.txt")


def value(item: Any) -> dict[str, Any]:
    """An AnyValue."""
    if isinstance(item, bool):
        return {"boolValue": item}
    if isinstance(item, int):
        return {"intValue": str(item)}
    if isinstance(item, float):
        return {"doubleValue": item}
    if isinstance(item, list):
        return {"arrayValue": {"values": [value(each) for each in item]}}
    return {"stringValue": item}


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes as a list of pairs."""
    return [{"key": key, "value": value(item)} for key, item in attributes.items()]


def hex_of(text: str, size: int) -> str:
    """An id that is the same each time."""
    return hashlib.sha256(text.encode()).hexdigest()[: 2 * size]


def iso(at_ns: int) -> str:
    """A time as these writers put it into an attribute."""
    return datetime.fromtimestamp(at_ns // MS / 1_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Session:
    """What one session sent."""

    service: str
    log_scope: str
    span_scope: str
    records: list[dict[str, Any]] = field(default_factory=list)
    spans: list[dict[str, Any]] = field(default_factory=list)

    def log(self, attributes: dict[str, Any], **record: Any) -> None:
        """Add a record."""
        self.records.append({"attributes": pairs(attributes), **record})

    def span(
        self, name: str, trace: str, start: int, end: int, attributes: dict[str, Any], parent: str = "", own: str = ""
    ) -> str:
        """Add a span and return its id."""
        span_id = own or hex_of(f"{name} {trace} {start} {end} {json.dumps(attributes)}", 8)
        ids = {"traceId": trace, "spanId": span_id, "parentSpanId": parent}
        self.spans.append(
            {**ids, "name": name, "startTimeUnixNano": str(start), "endTimeUnixNano": str(end), "attributes": pairs(attributes)}
        )
        return span_id

    def logs_request(self, records: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        """The records, or some of them, as a request."""
        scope = {"scope": {"name": self.log_scope}, "logRecords": self.records if records is None else records}
        return {"resourceLogs": [{"resource": self._resource, "scopeLogs": [scope]}]}

    def traces_request(self, spans: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        """The spans, or some of them, as a request."""
        scope = {"scope": {"name": self.span_scope}, "spans": self.spans if spans is None else spans}
        return {"resourceSpans": [{"resource": self._resource, "scopeSpans": [scope]}]}

    @property
    def _resource(self) -> dict[str, Any]:
        return {"attributes": pairs({"service.name": self.service})}


def claude_code(
    *, traced: bool, session: str = "s-1", prompt: str = "p-1", start: int = START, turns: Sequence[str] = TURNS
) -> Session:
    """One prompt of Claude Code; with the traces beta on, each record names the interaction's trace."""
    made = Session("claude-code", "com.anthropic.claude_code.events", "com.anthropic.claude_code.tracing")
    trace, root = hex_of(f"trace {session} {prompt}", 16), hex_of(f"root {session} {prompt}", 8)
    sequence = 0

    def event(name: str, at: int, **more: Any) -> None:
        nonlocal sequence
        told: dict[str, Any] = {
            "session.id": session,
            "event.name": name,
            "event.timestamp": iso(at),
            "event.sequence": sequence,
            "prompt.id": prompt,
        }
        sequence += 1
        context = {"traceId": trace, "spanId": root} if traced else {}
        at -= at % MS
        made.log(told | more, timeUnixNano=str(at), body=value(f"claude_code.{name}"), **context)

    def span(kind: str, begin: int, end: int, more: dict[str, Any], parent: str = root) -> str:
        return (
            made.span(f"claude_code.{kind}", trace, begin, end, {"span.type": kind, "session.id": session} | more, parent)
            if traced
            else ""
        )

    at = start
    event("user_prompt", at, prompt_length=17, prompt="weather in Paris?")
    for number in range(len(turns) + 1):
        used: dict[str, Any] = {
            "model": "claude-sonnet-4-5",
            "input_tokens": 50 + number,
            "output_tokens": 20,
            "cache_read_tokens": 50,
        }
        span(
            "llm_request",
            at,
            at + 1_000 * MS + 4_321_000,
            used | {"gen_ai.response.id": f"req_{number}", "stop_reason": "tool_use"},
        )
        told = used | {"request_id": f"req_{number}", "duration_ms": 990, "cost_usd": f"{0.001 + number / 10_000:.4f}"}
        at += 1_000 * MS
        event("api_request", at, **told)
        event("assistant_response", at + MS, request_id=f"req_{number}", response=f"Let me look, {number}.")
        if number == len(turns):
            break
        asked = json.dumps({"file_path": turns[number]})
        failed = turns[number] == "missing.txt"
        tool: dict[str, Any] = {"tool_name": "Read", "tool_use_id": f"toolu_{number}"}
        # Without OTEL_LOG_TOOL_DETAILS the span of a tool says nothing of its arguments.
        own = span("tool", at + 2 * MS, at + 40 * MS + 555_000, tool)
        span("tool.execution", at + 5 * MS, at + 40 * MS, {"success": not failed, "tool_use_id": f"toolu_{number}"}, own)
        at += 40 * MS
        told = tool | {"success": "false" if failed else "true", "duration_ms": "35", "tool_input": asked}
        event(
            "tool_result", at, **told, tool_input_size_bytes=len(asked), **({"error": "File does not exist."} if failed else {})
        )
        at += 10 * MS
    if traced:
        made.span(
            "claude_code.interaction",
            trace,
            start - MS,
            at + 2_000 * MS,
            {"span.type": "interaction", "session.id": session},
            own=root,
        )
    return made


def codex(*, traced: bool, conversation: str = "c-1", start: int = START, turns: Sequence[str] = TURNS) -> Session:
    """One turn of Codex; with a trace exporter, records of tools and requests name its trace, those of tokens none."""
    made = Session("codex_exec", "codex_otel.log_only", "codex_exec")
    trace, root = hex_of(f"turn {conversation}", 16), hex_of(f"turn {conversation}", 8)

    def event(name: str, at: int, *, spanned: bool = True, **more: Any) -> None:
        told: dict[str, Any] = {"event.name": name, "event.timestamp": iso(at), "conversation.id": conversation, "model": "gpt-5"}
        context = {"traceId": trace, "spanId": hex_of(f"inside {at}", 8)} if traced and spanned else {}
        at += 37_000
        made.log(told | more, timeUnixNano="0", observedTimeUnixNano=str(at), eventName="event otel/src/events.rs:12", **context)

    def span(name: str, begin: int, end: int, more: dict[str, Any]) -> None:
        if traced:
            made.span(name, trace, begin, end, {"conversation.id": conversation} | more, root)

    at = start
    event("codex.conversation_starts", at, provider_name="openai")
    event("codex.user_prompt", at, prompt="weather in Paris?")
    for number in range(len(turns) + 1):
        event("codex.api_request", at + 300 * MS, attempt="0", duration_ms="300")
        at += 1_000 * MS
        streamed: dict[str, Any] = {"event.kind": "response.completed"}
        event("codex.sse_event", at, spanned=False, duration_ms="0", **streamed)
        counts: dict[str, Any] = {
            "input_token_count": 100 + number,
            "output_token_count": 20,
            "cached_token_count": 50,
            "reasoning_token_count": 7,
        }
        event("codex.sse_event", at + MS, spanned=False, **streamed, **counts)
        names = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.cache_read.input_tokens")
        used: dict[str, Any] = dict(zip(names, (100 + number, 20, 50), strict=True)) | {"codex.usage.total_tokens": 120 + number}
        span("handle_responses", at + 3 * MS, at + 5 * MS, used | {"codex.usage.reasoning_output_tokens": 7})
        if number == len(turns):
            break
        tool: dict[str, Any] = {"tool_name": "exec_command", "call_id": f"call_{number}"}
        span("exec_command", at + 4 * MS, at + 150 * MS, tool | {"codex.tool.phase": "dispatch"})
        at += 148 * MS
        failed = turns[number] == "missing.txt"
        head = (
            f"Chunk ID: {hex_of(str(at), 3)}\nWall time: 0.{number}12 seconds\nProcess exited with code {int(failed)}\nOutput:\n"
        )
        said: dict[str, Any] = {"duration_ms": "140", "success": "true", "arguments": json.dumps({"cmd": f"cat {turns[number]}"})}
        output = head + ("No such file or directory" if failed else "18C sunny")
        event("codex.tool_result", at, **tool, **said, output=output, agent_name="/root", output_truncated=False)
        at += 20 * MS
    if traced:
        total: dict[str, Any] = {
            "codex.turn.token_usage.total_tokens": 610,
            "codex.turn.token_usage.input_tokens": 510,
            "model": "gpt-5",
        }
        made.span("session_task.turn", trace, start - MS, at + 2_000 * MS, total, own=root)
    return made


def gemini_cli(*, traced: bool, session: str = "g-1", start: int = START, turns: Sequence[str] = TURNS) -> Session:
    """One prompt of Gemini CLI; its spans tell neither arguments nor thoughts, and each request is a trace of its own."""
    made = Session("gemini-cli", "gemini-cli", "gemini-cli")
    who: dict[str, Any] = {"gen_ai.conversation.id": session, "gen_ai.agent.name": "gemini-cli"}

    def event(name: str, at: int, context: dict[str, str] | None = None, **more: Any) -> None:
        told: dict[str, Any] = {"session.id": session, "event.name": name, "event.timestamp": iso(at), "prompt_id": session}
        made.log(told | more, timeUnixNano=str(at - at % MS), body=value(f"Something of {name}."), **(context or {}))

    at = start
    event("gemini_cli.user_prompt", at, prompt="weather in Paris?")
    for number in range(len(turns) + 1):
        trace = hex_of(f"ask {session} {number}", 16)
        used: dict[str, Any] = {
            "gen_ai.usage.input_tokens": 100 + number,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.request.model": "gemini-2.5-pro",
        }
        if traced:
            told = who | used | {"gen_ai.operation.name": "llm_call"}
            made.span("llm_call", trace, at, at + 1_004 * MS, told)
        event("gemini_cli.api_request", at, request_text="all that was said so far", model="gemini-2.5-pro")
        at += 1_000 * MS
        counts: dict[str, Any] = {"input_token_count": 100 + number, "output_token_count": 20, "cached_content_token_count": 50}
        reasons: dict[str, Any] = {
            "finish_reasons": ["stop"],
            "status_code": 200,
            "model": "gemini-2.5-pro",
            "duration_ms": 990.5,
        }
        event("gemini_cli.api_response", at, **counts, thoughts_token_count=7, **reasons)
        if number == len(turns):
            break
        trace, step = hex_of(f"step {session} {number}", 16), hex_of(f"step {session} {number}", 8)
        failed = turns[number] == "missing.txt"
        if traced:
            told = who | {
                "gen_ai.operation.name": "tool_call",
                "gen_ai.tool.name": "read_file",
                "gen_ai.tool.call_id": f"read_{number}",
            }
            made.span("tool_call", trace, at + 10 * MS, at + 38 * MS, told, step)
            made.span(
                "schedule_tool_calls",
                trace,
                at + 8 * MS,
                at + 41 * MS,
                who | {"gen_ai.operation.name": "schedule_tool_calls"},
                own=step,
            )
        at += 40 * MS
        asked = json.dumps({"file_path": turns[number]}, indent=2)
        told = {
            "function_name": "read_file",
            "function_args": asked,
            "duration_ms": 29,
            "success": not failed,
            "decision": "accept",
        }
        error: dict[str, Any] = {"error": "File not found", "error_type": "file_not_found"} if failed else {}
        event("gemini_cli.tool_call", at, {"traceId": trace, "spanId": step} if traced else None, **told, **error)
        at += 10 * MS
    return made


WRITERS: dict[str, Callable[..., Session]] = {"claude_code": claude_code, "codex": codex, "gemini_cli": gemini_cli}
