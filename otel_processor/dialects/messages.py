"""What a model said: text, reasoning and requested tool calls, out of messages in the shapes that writers use.

Shapes: GenAI messages with parts, chat-completion messages with `tool_calls`, Bedrock content blocks, and messages
flattened into one attribute per leaf (OpenInference, older Traceloop). Work and memory are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from otel_processor.dialects.values import WITHHELD, decode, decode_structure, first_word
from otel_processor.model import Attributes, RequestedCall

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT_CHARS: Final = 20_000
MAX_PARTS: Final = 256
_MAX_FLAT_KEYS: Final = 2_048
_MAX_NESTING: Final = 6

_MESSAGE_KEYS: Final = frozenset({"role", "parts", "tool_calls", "message"})
_NOT_THE_MODEL: Final = frozenset({"tool", "user", "system", "developer"})
_REASONING_TYPES: Final = frozenset({"reasoning", "thinking", "reasoningContent"})
_CALL_TYPES: Final = frozenset({"tool_call", "tool_use", "function_call", "tool-call", "toolUse", "functionCall", "toolRequest"})
_BLOCK_KEYS: Final = ("toolUse", "functionCall", "function_call", "tool_call", "toolRequest", "reasoningContent", "reasoning")
"""Bedrock, Gemini, Haystack and Genkit name a part by the one key that holds it."""
_NAME_KEYS: Final = ("name", "toolName", "tool_name")
_ID_KEYS: Final = ("call_id", "id", "toolUseId", "tool_call_id", "toolCallId", "ref")
"""An item of OpenAI's Responses API has both: its own id, and that of the call."""
_ARGUMENT_KEYS: Final = ("arguments", "input", "args")
_FINISH_KEYS: Final = ("finish_reason", "stop_reason", "finishReason")
_TEXT_KEYS: Final = ("content", "text", "reasoning", "thinking", "reasoningText", "reasoning_text")


@dataclass(frozen=True, slots=True)
class Said:
    """What a model answered."""

    text: str | None
    reasoning: str | None
    requested: tuple[RequestedCall, ...]
    finish_reason: Any

    def fields(self) -> dict[str, Any]:
        """The fields of `Reading` that were told."""
        told: dict[str, Any] = {}
        if self.text:
            told["text"] = self.text
        if self.reasoning:
            told["reasoning"] = self.reasoning
        if self.requested:
            told["requested"] = self.requested
        if self.finish_reason:
            told["finish_reason"] = self.finish_reason
        return told


@dataclass(slots=True)
class _Answer:
    """Collects an answer part by part."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[RequestedCall] = field(default_factory=list)
    finish_reason: Any = None

    def said(self) -> Said:
        return Said(_joined(self.texts), _joined(self.thoughts), tuple(self.calls), self.finish_reason)


def _joined(texts: list[str]) -> str | None:
    return "\n".join(texts)[:MAX_TEXT_CHARS] if texts else None


def read_messages(value: Any) -> Said:
    """Read messages that a model produced, given as a structure or as JSON text; a plain text is what was said."""
    answer = _Answer()
    messages = decode_structure(value)
    if not isinstance(messages, list):
        _take_message(answer, messages)
    elif messages and not _are_messages(messages):
        _take_parts(answer, messages)
    else:
        for message in messages[:MAX_PARTS]:
            _take_message(answer, message)
    return answer.said()


def _are_messages(values: list[Any]) -> bool:
    """Whether these are messages, and not the parts of one."""
    return any(isinstance(value, dict) and not _MESSAGE_KEYS.isdisjoint(value) for value in values[:8])


def _take_message(answer: _Answer, message: Any, depth: int = 0) -> None:
    if isinstance(message, str):
        _add_text(answer.texts, message)
    if not isinstance(message, dict) or str(message.get("role")) in _NOT_THE_MODEL:
        return
    inner = message.get("message")
    if isinstance(inner, dict) and depth < _MAX_NESTING:
        _take_message(answer, inner, depth + 1)
    told = len(answer.calls)
    _take_parts(answer, message.get("parts"))
    _take_parts(answer, message.get("content"))
    thoughts = message.get("reasoning_content")
    if thoughts:
        _add_text(answer.thoughts, thoughts)
    calls = message.get("tool_calls")
    if calls and isinstance(calls, list):
        # LangChain tells the calls again among the parts, as the provider worded them.
        del answer.calls[told:]
        for call in islice(calls, MAX_PARTS):
            _take_call(answer, call)
    answer.finish_reason = _first_of(message, _FINISH_KEYS) or answer.finish_reason


def _take_parts(answer: _Answer, body: Any) -> None:
    if isinstance(body, list):
        for part in body[:MAX_PARTS]:
            _take_part(answer, part)
    elif body:
        _add_text(answer.texts, body)


def _take_part(answer: _Answer, part: Any) -> None:
    if isinstance(part, str):
        _add_text(answer.texts, part)
    if not isinstance(part, dict):
        return
    kind = part.get("type")
    if not isinstance(kind, str):
        kind = next((name for name in _BLOCK_KEYS if name in part), "text")
        part = part[kind] if isinstance(part.get(kind), dict) else part
    if kind in _CALL_TYPES:
        _take_call(answer, part)
    elif kind in _REASONING_TYPES or (kind == "text" and part.get("thought") is True):
        _add_text(answer.thoughts, part)
    elif kind in {"text", "output_text"}:
        _add_text(answer.texts, part)


def _add_text(into: list[str], value: Any) -> None:
    text = _text_in(value)
    if text and text not in WITHHELD and len(into) < MAX_PARTS:
        into.append(text[:MAX_TEXT_CHARS])


def _text_in(value: Any, depth: int = 0) -> str | None:
    """The text somewhere inside a part, whose key differs between writers."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and depth < _MAX_NESTING:
        for key in _TEXT_KEYS:
            inner = value.get(key)
            if inner:
                return _text_in(inner, depth + 1)
    return None


def _take_call(answer: _Answer, call: Any) -> None:
    if not isinstance(call, dict) or len(answer.calls) >= MAX_PARTS:
        return
    function = call.get("function")
    named = function if isinstance(function, dict) else call
    tool = first_word(named, _NAME_KEYS)
    if tool is None:
        return
    call_id = first_word(call, _ID_KEYS)
    arguments = _first_of(named, _ARGUMENT_KEYS)
    answer.calls.append(RequestedCall(call_id, tool, decode(arguments)))


def _first_of(value: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        found = value.get(key)
        if found is not None:
            return found
    return None


def read_flat_messages(attributes: Attributes, prefix: str) -> Said:
    """Read messages flattened into keys such as `<prefix>0.message.tool_calls.1.tool_call.id`; indexes may have gaps."""
    answer = _Answer()
    tree = _tree(attributes, prefix)
    for message in _in_order(tree):
        if isinstance(message, dict):
            _take_message(answer, _whole(message))
    return answer.said()


def _tree(attributes: Attributes, prefix: str) -> dict[str, Any]:
    """The leaves under a prefix as nested dicts, one level for each part of the key."""
    root: dict[str, Any] = {}
    start = len(prefix)
    flat = [key for key in attributes if isinstance(key, str) and key.startswith(prefix)]
    for key in islice(flat, _MAX_FLAT_KEYS):
        path, leaf = _path(key[start:])
        branch = root
        for step in path:
            below = branch.get(step)
            if not isinstance(below, dict):
                below = branch[step] = {}
            branch = below
        branch.setdefault(leaf, attributes[key])
    return root


@lru_cache(maxsize=4096)
def _path(key: str) -> tuple[tuple[str, ...], str]:
    """The branches that lead to a leaf, and the leaf: the same few in every span of a writer."""
    *path, leaf = key.split(".", 8)
    return tuple(path), leaf


def _in_order(branch: Any) -> list[Any]:
    """The values of a level whose keys are indexes."""
    if not isinstance(branch, dict):
        return []
    if len(branch) == 1 and "0" in branch:
        return [branch["0"]]
    indexes = sorted((key for key in branch if key.isascii() and key.isdigit()), key=lambda key: (len(key), key))
    return [branch[index] for index in indexes]


def _whole(message: Mapping[str, Any]) -> dict[str, Any]:
    """A flattened message as the nested one it was."""
    inner = message.get("message")
    body = inner if isinstance(inner, dict) else message
    content = body.get("content")
    parts = [_inside(part, "message_content") for part in _in_order(body.get("contents"))]
    if isinstance(content, str) and any(isinstance(part, dict) and part.get("text") == content for part in parts):
        # Some writers put the text in both places.
        content = None
    if isinstance(content, dict):
        parts += _in_order(content)
        content = None
    calls = [_inside(call, "tool_call") for call in _in_order(body.get("tool_calls"))]
    if not calls and (function := body.get("function_call_name")) is not None:
        calls = [{"name": function, "arguments": body.get("function_call_arguments_json")}]
    return {
        "role": body.get("role"),
        "content": content,
        # Calls repeated among the contents would be counted twice.
        "parts": [part for part in parts if not _is_call(part)] if calls else parts,
        "reasoning_content": body.get("reasoning"),
        "tool_calls": calls,
        "finish_reason": body.get("finish_reason"),
    }


def _is_call(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and kind in _CALL_TYPES


def _inside(value: Any, key: str) -> Any:
    return value[key] if isinstance(value, dict) and isinstance(value.get(key), dict) else value
