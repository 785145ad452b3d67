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
    "stop_sequence": STOP,
    "max_tokens": LENGTH,
    "max_output_tokens": LENGTH,
    "model_context_window_exceeded": LENGTH,
    "content-filter": CONTENT_FILTER,
    "content_filtered": CONTENT_FILTER,
    "guardrail_intervened": CONTENT_FILTER,
    "safety": CONTENT_FILTER,
    "blocklist": CONTENT_FILTER,
    "prohibited_content": CONTENT_FILTER,
    "spii": CONTENT_FILTER,
}
"""As OpenAI, Anthropic, Bedrock (through Strands) and Gemini spell them."""


def first_reason(value: Any) -> str | None:
    """The first reason in a list, a list written as JSON, or a single word, normalised."""
    if isinstance(value, str) and value[:1] in {"[", '"'}:
        value = decode_structure(value)
    if isinstance(value, (list, tuple)):
        return next((reason for item in value if (reason := _normalised(item))), None)
    return _normalised(value)


def _normalised(value: Any) -> str | None:
    reason = word(value)
    if reason is None:
        return None
    # Semantic Kernel writes the reasons of several choices behind each other, as Python prints the enumeration.
    reason = reason.lower().partition(",")[0].removeprefix("finishreason.")
    return _SAME.get(reason, reason)
