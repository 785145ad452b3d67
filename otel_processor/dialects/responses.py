"""What a model said, out of whole responses as the clients of models hand them back.

Writers that record the return value of a function leave the answer inside the response of OpenAI, Anthropic, Gemini,
LangChain, the Vercel AI SDK or Genkit. This finds the message in there; `messages` reads it.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from otel_processor.dialects.messages import MAX_PARTS, Said, read_messages
from otel_processor.dialects.values import decode_structure

_LISTS: Final = ("generations", "choices", "candidates")
_REASONS: Final = ("finish_reason", "finishReason")
_MAX_NESTING: Final = 4


def read_response(value: Any) -> Said:
    """Read the answer in a model's response, in its messages, or in a plain text."""
    return read_messages(_message_in(decode_structure(value)))


def object_in(value: Any) -> dict[str, Any]:
    """The JSON object that an attribute holds; empty when it holds none."""
    decoded = decode_structure(value)
    return decoded if isinstance(decoded, dict) else {}


def _message_in(value: Any, depth: int = 0) -> Any:
    if not isinstance(value, dict) or depth > _MAX_NESTING:
        return value
    for key in _LISTS:
        several = value.get(key)
        if isinstance(several, list) and several:
            # Alternatives; LangChain has them for each of several prompts.
            first = several[0]
            return _message_in(first[0] if isinstance(first, list) and first else first, depth + 1)
    output = value.get("output")
    if isinstance(output, list):
        return _items(output)
    message = value.get("message")
    if isinstance(message, dict):
        return _ended(_message_in(message, depth + 1), value)
    content = value.get("content")
    if isinstance(content, dict) and "parts" in content:
        return _ended({"parts": content["parts"]}, value)
    kwargs = value.get("kwargs")
    if isinstance(kwargs, dict) and value.get("lc") is not None:
        return _ended(kwargs, kwargs.get("response_metadata"))
    if "toolCalls" in value:
        thought = value.get("reasoningText") or value.get("reasoning")
        return _ended({"content": value.get("text"), "reasoning_content": thought, "tool_calls": value["toolCalls"]}, value)
    return value


def _ended(message: Any, around: Any) -> Any:
    """The message with the reason why it ended, which stands around it or in LangChain's notes on it."""
    if not isinstance(message, dict) or not isinstance(around, dict):
        return message
    holders = (message, around, object_in(around.get("generation_info")))
    reason = next((holder[key] for holder in holders for key in _REASONS if holder.get(key)), None)
    return message if reason is None else {**message, "finish_reason": reason}


def _items(output: list[Any]) -> dict[str, Any]:
    """The items of OpenAI's Responses API as the parts of one message."""
    parts: list[Any] = []
    for item in islice(output, MAX_PARTS):
        content = item.get("content") if isinstance(item, dict) and item.get("type") == "message" else None
        if isinstance(content, list):
            parts.extend(islice(content, MAX_PARTS))
        elif isinstance(item, dict) and item.get("type") == "reasoning" and isinstance(item.get("summary"), list):
            parts.extend({**part, "type": "reasoning"} for part in islice(item["summary"], MAX_PARTS) if isinstance(part, dict))
        else:
            parts.append(item)
    return {"content": parts}
