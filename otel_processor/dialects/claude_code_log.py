"""Claude Code's events: tool arguments, what each request cost and, where it may tell, what was asked and answered.

Source: code.claude.com `docs/en/monitoring-usage`, events. With the traces beta on, a record names the trace of its
interaction; without it, `prompt.id` is the same on all records of one prompt.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Fields, Table
from otel_processor.dialects.log_writer import Event, LogWriter
from otel_processor.dialects.values import count, first_content, flag, word
from otel_processor.model import Attributes, LogPart, Role

_TOOL: Final = Table.of(words={"tool": (names.PLAIN_TOOL_NAME,), "call_id": (names.CLAUDE_TOOL_USE_ID,)})
_MODEL: Final = Table.of(
    words={"model": (names.PLAIN_MODEL,), "call_id": (names.CLAUDE_REQUEST_ID,)},
    counts={
        "input_tokens": (names.CLAUDE_INPUT_TOKENS,),
        "output_tokens": (names.CLAUDE_OUTPUT_TOKENS,),
        "cache_read_tokens": (names.CLAUDE_CACHE_READ_TOKENS,),
        "cache_write_tokens": (names.CLAUDE_CACHE_WRITE_TOKENS,),
    },
    amounts={"cost_usd": (names.CLAUDE_COST,)},
)
_ANSWER: Final = Table.of(words={"call_id": (names.CLAUDE_REQUEST_ID,)})


def _shared(attributes: Attributes) -> Fields:
    found: Fields = {"agent": word(attributes.get(names.CLAUDE_AGENT_ID)) or "claude-code"}
    session, prompt = word(attributes.get(names.SESSION_ID)), word(attributes.get(names.CLAUDE_PROMPT_ID))
    if session is not None:
        found["conversation_id"] = session
    if prompt is not None and attributes.get(names.LOG_APART) is True:
        # One prompt is one task, as one interaction is where there are spans.
        found["run_id"] = prompt
    return found


def _tool(attributes: Attributes) -> Fields:
    found = _TOOL.read(attributes)
    arguments = _arguments(attributes)
    if arguments is not None:
        found["arguments"] = arguments
    if flag(attributes.get(names.PLAIN_SUCCESS)) is False:
        found["is_error"] = True
    return found


def _arguments(attributes: Attributes) -> Any:
    """The arguments, unless their end is missing: two that are equal up to there need not be equal."""
    told = first_content(attributes, (names.CLAUDE_TOOL_INPUT,))
    size = count(attributes.get(names.CLAUDE_TOOL_INPUT_BYTES))
    if isinstance(told, str) and size is not None and size > len(told.encode("utf-8", "surrogatepass")):
        return None
    return told if told is not None else first_content(attributes, (names.CLAUDE_TOOL_PARAMETERS,))


def _request(attributes: Attributes) -> Fields:
    found = _MODEL.read(attributes)
    if "input_tokens" in found:
        # Anthropic counts tokens that were read from a cache, or written to it, beside the input.
        found["input_tokens"] += found.get("cache_read_tokens", 0) + found.get("cache_write_tokens", 0)
    return {"provider": "anthropic"} | found


def _failed(attributes: Attributes) -> Fields:
    return _request(attributes) | {"is_error": True}


def _answer(attributes: Attributes) -> Fields:
    found = _ANSWER.read(attributes)
    text = first_content(attributes, (names.CLAUDE_RESPONSE,))
    if isinstance(text, str) and text:
        found["text"] = text
    return found


def _home(attributes: Attributes, resource: Attributes) -> str | None:
    session = word(attributes.get(names.SESSION_ID)) or word(resource.get(names.SESSION_ID))
    prompt = word(attributes.get(names.CLAUDE_PROMPT_ID))
    return f"{session} {prompt}" if session is not None or prompt is not None else None


CLAUDE_CODE_LOG: Final = LogWriter(
    name="claude_code",
    prefix="claude_code.",
    scopes=frozenset({"com.anthropic.claude_code.events", "com.anthropic.claude_code", "claude-code"}),
    events={
        "tool_result": Event(part=LogPart.CALL, role=Role.TOOL, fields=_tool),
        "api_request": Event(part=LogPart.CALL, role=Role.MODEL, fields=_request),
        "api_error": Event(part=LogPart.CALL, role=Role.MODEL, fields=_failed),
        "assistant_response": Event(part=LogPart.ANSWER, role=Role.MODEL, fields=_answer),
        "user_prompt": Event(part=LogPart.NOTE),
        "tool_decision": Event(part=LogPart.NOTE),
    },
    home=_home,
    shared=_shared,
)
