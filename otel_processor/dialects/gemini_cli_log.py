"""Gemini CLI's events: arguments that its spans leave out or cut, cached tokens and thoughts, which no span tells.

Source: google-gemini/gemini-cli `docs/cli/telemetry.md`, `packages/core/src/telemetry/types.ts`. Records of tools name the
trace of the step that made them, those of a model's answer name none: the session is what all have in common with the spans.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Fields, Table, content
from otel_processor.dialects.gemini_cli import joined_answer
from otel_processor.dialects.log_writer import Event, LogWriter
from otel_processor.dialects.messages import read_messages
from otel_processor.dialects.values import decode_structure, flag, word
from otel_processor.model import Attributes, LogPart, Role

_TOOL: Final = Table.of(words={"tool": (names.GEMINI_LOG_TOOL, names.PLAIN_TOOL_NAME), "call_id": (names.PLAIN_CALL_ID,)})
_MODEL: Final = Table.of(
    words={"model": (names.PLAIN_MODEL,)},
    counts={
        "input_tokens": (names.LOG_INPUT_TOKENS,),
        "output_tokens": (names.LOG_OUTPUT_TOKENS,),
        "cache_read_tokens": (names.GEMINI_LOG_CACHED_TOKENS,),
        "reasoning_tokens": (names.GEMINI_LOG_THOUGHT_TOKENS,),
    },
)


def _shared(agent: str, attributes: Attributes) -> Fields:
    session = word(attributes.get(names.SESSION_ID))
    found: Fields = {"agent": agent}
    return found if session is None else found | {"conversation_id": session}


def _tool(attributes: Attributes) -> Fields:
    found = _TOOL.read(attributes) | content(attributes, arguments=(names.GEMINI_LOG_ARGUMENTS,), result=())
    if flag(attributes.get(names.PLAIN_SUCCESS)) is False:
        found["is_error"] = True
    return found


def _response(attributes: Attributes) -> Fields:
    found = _MODEL.read(attributes)
    if "output_tokens" in found:
        # Google counts thoughts beside the output.
        found["output_tokens"] += found.get("reasoning_tokens", 0)
    reasons = attributes.get(names.GEMINI_LOG_FINISH_REASONS)
    if reasons:
        found["finish_reason"] = reasons
    return found | _said(decode_structure(attributes.get(names.GEMINI_LOG_RESPONSE)))


def _said(chunks: Any) -> Fields:
    """What the answer holds; it is recorded as the pieces in which it was streamed."""
    contents = []
    for chunk in chunks if isinstance(chunks, list) else [chunks]:
        candidates = chunk.get("candidates") if isinstance(chunk, dict) else None
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        if isinstance(first, dict):
            contents.append(first.get("content"))
    return read_messages(joined_answer(contents)).fields() if contents else {}


def _failed(attributes: Attributes) -> Fields:
    return _MODEL.read(attributes) | {"is_error": True}


def _home(_: Attributes, __: Attributes) -> str | None:
    """Each is a trace of its own, as its spans are: what belongs together is told by the session."""
    return None


_EVENTS: Final = {
    "tool_call": Event(part=LogPart.CALL, role=Role.TOOL, fields=_tool),
    "api_response": Event(part=LogPart.CALL, role=Role.MODEL, fields=_response),
    "api_error": Event(part=LogPart.CALL, role=Role.MODEL, fields=_failed),
    "user_prompt": Event(part=LogPart.NOTE),
}

GEMINI_CLI_LOG: Final = LogWriter(
    name="gemini_cli",
    prefix="gemini_cli.",
    scopes=frozenset(),
    events=_EVENTS,
    home=_home,
    shared=partial(_shared, "gemini-cli"),
    keeps_trace=False,
)

QWEN_CODE_LOG: Final = replace(GEMINI_CLI_LOG, name="qwen_code", prefix="qwen-code.", shared=partial(_shared, "qwen-code"))
"""A fork, which tells the same under another name."""
