"""Codex CLI's events: full arguments and output of tools, which no span of it tells, and the tokens of each request.

Source: openai/codex `codex-rs/otel`. Its records have no time of their own but the one at which they were seen, and a
place in the source in the field for the event's name. With a trace exporter set, records of tools and requests name the
trace of their turn, and those that carry tokens name none: the request says then that spans tell the model calls.
"""

from __future__ import annotations

import re
from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Fields, Table, content
from otel_processor.dialects.log_writer import Event, LogWriter
from otel_processor.dialects.values import flag, word
from otel_processor.model import Attributes, LogPart, Role

_TOOL: Final = Table.of(words={"tool": (names.PLAIN_TOOL_NAME,), "call_id": (names.PLAIN_CALL_ID,)})
_USAGE: Final = Table.of(
    words={"model": (names.PLAIN_MODEL,)},
    counts={
        # Cached tokens are part of the input, reasoning of the output.
        "input_tokens": (names.LOG_INPUT_TOKENS,),
        "output_tokens": (names.LOG_OUTPUT_TOKENS,),
        "cache_read_tokens": (names.CODEX_LOG_CACHED_TOKENS,),
        "cache_write_tokens": (names.CODEX_LOG_CACHE_WRITE_TOKENS,),
        "reasoning_tokens": (names.CODEX_LOG_REASONING_TOKENS,),
    },
)
_MAIN_AGENT: Final = "/root"
_VOLATILE_HEAD: Final = re.compile(r"\A(?:Chunk ID: \S+\n)?(?:Wall time: [^\n]*\n)?")
"""Lines that its shell puts before what a command wrote, other ones each time."""


def _shared(attributes: Attributes) -> Fields:
    agent, conversation = word(attributes.get(names.PLAIN_AGENT_NAME)), word(attributes.get(names.CODEX_CONVERSATION_ID))
    found: Fields = {"agent": "codex" if agent in {None, _MAIN_AGENT} else agent}
    if conversation is not None:
        found["conversation_id"] = conversation
    return found


def _tool(attributes: Attributes) -> Fields:
    found = _TOOL.read(attributes) | content(attributes, arguments=(names.CODEX_ARGUMENTS,), result=(names.PLAIN_OUTPUT,))
    result = found.get("result")
    if isinstance(result, str) and _cut_at(attributes) is None:
        found["result"] = _VOLATILE_HEAD.sub("", result)
    if flag(attributes.get(names.PLAIN_SUCCESS)) is False:
        found["is_error"] = True
    return found


def _cut_at(attributes: Attributes) -> int | None:
    output = attributes.get(names.PLAIN_OUTPUT)
    return len(output) if flag(attributes.get(names.CODEX_OUTPUT_TRUNCATED)) and isinstance(output, str) else None


def _tells_usage(attributes: Attributes) -> bool:
    """One event of a stream is told twice: as it came, and with what it cost."""
    return attributes.get(names.LOG_INPUT_TOKENS) is not None


def _home(attributes: Attributes, _: Attributes) -> str | None:
    return word(attributes.get(names.CODEX_CONVERSATION_ID))


_REQUEST: Final = Event(part=LogPart.TRACED)

CODEX_LOG: Final = LogWriter(
    name="codex",
    prefix="codex.",
    scopes=frozenset(),
    events={
        "tool_result": Event(part=LogPart.CALL, role=Role.TOOL, fields=_tool, cut_at=_cut_at),
        "sse_event": Event(part=LogPart.CALL, role=Role.MODEL, fields=_USAGE.read, is_meant=_tells_usage),
        "websocket_event": Event(part=LogPart.CALL, role=Role.MODEL, fields=_USAGE.read, is_meant=_tells_usage),
        "api_request": _REQUEST,
        "websocket_request": _REQUEST,
        "websocket_connect": _REQUEST,
        "conversation_starts": _REQUEST,
        "user_prompt": Event(part=LogPart.NOTE),
        "tool_decision": Event(part=LogPart.NOTE),
    },
    home=_home,
    shared=_shared,
)
