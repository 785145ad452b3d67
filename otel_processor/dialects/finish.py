"""Why a model stopped, in one vocabulary."""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects.values import decode_structure, word

TOOL_CALLS: Final = "tool_calls"
STOP: Final = "stop"
LENGTH: Final = "length"
CONTENT_FILTER: Final = "content_filter"

_SAME: Final = {
    "tool_call": TOOL_CALLS,
    "tool-calls": TOOL_CALLS,
    "tool_use": TOOL_CALLS,
    "function_call": TOOL_CALLS,
    "function_calls": TOOL_CALLS,
    "end_turn": STOP,
    "eos": STOP,
    "max_tokens": LENGTH,
    "content-filter": CONTENT_FILTER,
}


def first_reason(value: Any) -> str | None:
    """The first reason in a list, a list written as JSON, or a single word, normalised."""
    if isinstance(value, str) and value[:1] in {"[", '"'}:
        value = decode_structure(value)
    if isinstance(value, list | tuple):
        return next((reason for item in value if (reason := _normalised(item))), None)
    return _normalised(value)


def _normalised(value: Any) -> str | None:
    reason = word(value)
    if reason is None:
        return None
    reason = reason.lower().removeprefix("finishreason.")
    return _SAME.get(reason, reason)
