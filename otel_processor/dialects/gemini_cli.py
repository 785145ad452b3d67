"""Gemini CLI: GenAI names around whole request and response objects of its own, cut at 10,000 characters.

Source: google-gemini/gemini-cli `packages/core/src/telemetry/trace.ts`, `scheduler/tool-executor.ts`,
`scheduler/types.ts`, `core/loggingContentGenerator.ts`. Its token counts leave thoughts out, and nothing on the span
tells how many there were.
"""

from __future__ import annotations

import re
from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.messages import read_messages
from otel_processor.dialects.values import decode_structure, word
from otel_processor.model import Attributes, Role, SpanFacts

_ROLES: Final = {
    "tool_call": Role.TOOL,
    "llm_call": Role.MODEL,
    # Each is a trace of its own and no task: what belongs together is told by the conversation.
    "schedule_tool_calls": Role.OTHER,
    "user_prompt": Role.OTHER,
    "system_prompt": Role.OTHER,
    "agent_call": Role.OTHER,
}
_FAILED: Final = frozenset({"error", "cancelled"})
_STATUS: Final = re.compile(r"""\{"status": ?"(\w+)\"""")
"""How the text of a finished call begins, whatever was cut off its end."""


def _role(span: SpanFacts) -> Role | None:
    if span.scope != names.GEMINI_CLI_SCOPE:
        return None
    operation = word(span.attributes.get(names.OPERATION))
    return _ROLES.get(operation) if operation else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    if span.scope != names.GEMINI_CLI_SCOPE:
        return {}
    if role is Role.TOOL:
        return _of_tool(span.attributes)
    if role is Role.MODEL:
        return read_messages(joined_answer(decode_structure(span.attributes.get(names.OUTPUT_MESSAGES)))).fields()
    return {}


def _of_tool(attributes: Attributes) -> Fields:
    found: Fields = {}
    request = decode_structure(attributes.get(names.INPUT_MESSAGES))
    if isinstance(request, dict) and request.get("args") is not None:
        found["arguments"] = request["args"]
    written = attributes.get(names.OUTPUT_MESSAGES)
    call = decode_structure(written)
    if isinstance(call, dict):
        response = call.get("response")
        answer = _answer(response) if isinstance(response, dict) else None
        if answer is not None:
            found["result"] = answer
        status = word(call.get("status"))
    else:
        begin = _STATUS.match(written) if isinstance(written, str) else None
        status = begin[1] if begin else None
    if status in _FAILED:
        found["is_error"] = True
    return found


def _answer(response: dict[str, Any]) -> Any:
    """What the model is given in return: a successful call's `output`, a failed one's `error`."""
    parts = response.get("responseParts")
    for part in parts if isinstance(parts, list) else ():
        function = part.get("functionResponse") if isinstance(part, dict) else None
        if isinstance(function, dict) and function.get("response") is not None:
            told = function["response"]
            if isinstance(told, dict) and len(told) == 1 and "output" in told:
                return told["output"]
            return told
    return response.get("resultDisplay")


def joined_answer(chunks: Any) -> Any:
    """A streamed answer as one message: neighbouring pieces of a text belong to each other."""
    parts: list[Any] = []
    for chunk in chunks if isinstance(chunks, list) else [chunks]:
        pieces = chunk.get("parts") if isinstance(chunk, dict) else None
        for piece in pieces if isinstance(pieces, list) else ():
            if parts and _is_text(piece) and _is_text(parts[-1]) and parts[-1].get("thought") == piece.get("thought"):
                parts[-1] = parts[-1] | {"text": parts[-1]["text"] + piece["text"]}
            else:
                parts.append(piece)
    return [{"role": "assistant", "parts": parts}]


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


GEMINI_CLI: Final = Dialect(
    name="gemini_cli",
    markers=frozenset(),
    scopes=frozenset({names.GEMINI_CLI_SCOPE}),
    role=_role,
    fields=_fields,
)
