"""What a span tells of a tool call that another span stands for: its result, its failure, its arguments.

Some writers put the outcome of a tool on a child or a sibling of the tool's span, on the message bus, or nowhere but in
the messages that the next model call is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from otel_processor.dialects.failures import is_failed_object
from otel_processor.dialects.values import decode_structure, first_word, word
from otel_processor.dialects.wrappers import unwrap_result
from otel_processor.model import Told

if TYPE_CHECKING:
    from otel_processor.model import Attributes

_MAX_MESSAGES: Final = 256
_ID_KEYS: Final = ("tool_call_id", "id", "tool_use_id", "toolUseId", "toolCallId", "call_id", "callId", "ref")
_NAME_KEYS: Final = ("name", "tool_name", "toolName")
_RESULT_KEYS: Final = ("response", "result", "content", "output")
_BLOCK_KEYS: Final = ("toolResult", "function_response", "functionResponse", "tool_call_result", "toolResponse")
"""Bedrock, Gemini, Haystack and Genkit name a part by the one key that holds it."""
_MODEL_ROLES: Final = frozenset({"assistant", "model"})
_INDEXES: Final = frozenset(map(str, range(4_096)))
_OUTPUT: Final = frozenset({"output"})
_RESULT_TYPES: Final = frozenset({"tool_call_response", "tool_result", "function_call_output", "tool-result"})


def told_in_messages(value: Any) -> tuple[Told, ...]:
    """The tool results that a model is given now: those after the last thing that it said itself."""
    messages = decode_structure(value)
    if not isinstance(messages, list):
        return ()
    told: list[Told] = []
    for message in islice(reversed(messages), _MAX_MESSAGES):
        if not isinstance(message, dict):
            continue
        if word(message.get("role")) in _MODEL_ROLES:
            break
        told.extend(reversed([one for one in _in_message(message) if one.result is not None or one.is_error]))
    return tuple(reversed(told))


def told_in_flat_messages(attributes: Attributes, prefix: str) -> tuple[Told, ...]:
    """The same, of messages flattened into keys such as `<prefix>3.message.tool_call_id`."""
    numbers = {
        int(number)
        for key in attributes
        if isinstance(key, str) and key.startswith(prefix) and (number := key[len(prefix) :].partition(".")[0]) in _INDEXES
    }
    told: list[Told] = []
    for index in sorted(numbers, reverse=True):
        leaves = _leaves(attributes, f"{prefix}{index}.")
        if word(leaves.get("role")) in _MODEL_ROLES:
            break
        if leaves.get("tool_call_id") is not None:
            told.append(_told(leaves))
    return tuple(reversed(told))


def _leaves(attributes: Attributes, prefix: str) -> dict[str, Any]:
    """What a flattened message says of itself, which OpenInference puts one level deeper."""
    return {
        name: value
        for name in ("role", "tool_call_id", "name", "content")
        if (value := attributes.get(prefix + "message." + name, attributes.get(prefix + name))) is not None
    }


def _in_message(message: Mapping[str, Any]) -> Iterator[Told]:
    if word(message.get("type")) in _RESULT_TYPES:
        yield _told(message)
        return
    blocks = [
        block
        for body in (message.get("parts"), message.get("content"))
        for part in (islice(body, _MAX_MESSAGES) if isinstance(body, list) else ())
        if isinstance(part, dict) and (block := _block(part)) is not None
    ]
    if blocks:
        yield from map(_told, blocks)
    elif word(message.get("role")) == "tool" and first_word(message, _ID_KEYS) is not None:
        yield _told(message)


def _block(part: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if word(part.get("type")) in _RESULT_TYPES:
        return part
    return next((part[key] for key in _BLOCK_KEYS if isinstance(part.get(key), dict)), None)


def _told(block: Mapping[str, Any]) -> Told:
    origin = block.get("origin")
    who = origin if isinstance(origin, dict) else block
    raw = next((block[key] for key in _RESULT_KEYS if block.get(key) is not None), None)
    raw = decode_structure(raw)
    if isinstance(raw, dict) and raw.keys() == _OUTPUT:
        # How Gemini is given what is no object.
        raw = raw["output"]
    failed = block.get("is_error") is True or block.get("error") is True or word(block.get("status")) == "error"
    arguments = decode_structure(who.get("arguments")) if who is origin else None
    return told_result(first_word(who, _ID_KEYS), first_word(who, _NAME_KEYS), raw, arguments=arguments, failed=failed)


def made_here(told: Iterable[Told]) -> tuple[Told, ...]:
    """The calls of a span that made several, which no other spans stand for."""
    return tuple(replace(each, made_here=True) for each in told)


def told_result(call_id: str | None, tool: str | None, raw: Any, *, arguments: Any = None, failed: bool = False) -> Told:
    """A result as it was written, with its wrapper taken off and looked at for the shape of a failure."""
    result = unwrap_result(raw)
    failed = failed or result.is_error or (isinstance(result.value, dict) and is_failed_object(result.value))
    return Told(call_id, tool, arguments, result.value, failed)
