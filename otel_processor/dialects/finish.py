"""Why a model stopped, in one vocabulary."""

from __future__ import annotations

import re
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
    "tool_execution": TOOL_CALLS,
    "end_turn": STOP,
    "eos": STOP,
    "stop_sequence": STOP,
    "eos_token": STOP,
    "complete": STOP,
    "max_tokens": LENGTH,
    "max_output_tokens": LENGTH,
    "max_completion_tokens": LENGTH,
    "incomplete": LENGTH,
    "model_context_window_exceeded": LENGTH,
    "content-filter": CONTENT_FILTER,
    "content_filtered": CONTENT_FILTER,
    "guardrail_intervened": CONTENT_FILTER,
    "safety": CONTENT_FILTER,
    "blocklist": CONTENT_FILTER,
    "prohibited_content": CONTENT_FILTER,
    "spii": CONTENT_FILTER,
    "recitation": CONTENT_FILTER,
    "error_toxic": CONTENT_FILTER,
    "malformed_function_call": "error",
}
"""As OpenAI, Anthropic, Bedrock (through Strands), Gemini, Cohere, LangChain4j and TGI spell them, in lower case."""

_HUMP: Final = re.compile("(?<=[a-z])(?=[A-Z])")


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
    reason = reason.partition(",")[0]
    known = reason.lower().removeprefix("finishreason.")
    if known not in _SAME and known != reason:
        # `toolUse`, `MaxTokens`; enumerations print their own name in front.
        known = _HUMP.sub("_", reason.removeprefix("FinishReason.")).lower().removeprefix("finish_reason").lstrip("._")
    return _SAME.get(known, known)
