"""Take off what writers put around the arguments and results of tools.

A wrapper is taken off only when its whole key set is the wrapper's, so that a tool whose own argument happens to be
called `kwargs` or `inputs` is left alone.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Final, NamedTuple

from otel_processor.dialects.values import decode_structure, word

_MAX_LITERAL_CHARS: Final = 20_000

_PYTHON_CALL: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
_LANGCHAIN_CALL: Final = frozenset({"input_str", "tags", "metadata", "inputs", "kwargs"})
_LANGCHAIN_REQUEST: Final = frozenset({"name", "args", "id", "type"})
_MCP_CALL: Final = frozenset({"tool_name", "arguments"})
_GEMINI_CALL: Final = frozenset({"callId", "name", "args"})
_FUNCTION_RESPONSE: Final = frozenset({"id", "name", "response"})
_AGENTSCOPE_RESPONSE: Final = frozenset({"content", "state", "metadata", "id"})
_WRAPPING: Final = frozenset({"kwargs", "input_str", "args", "arguments"})
"""Every wrapper has at least one of these keys."""

_LANGCHAIN_END: Final = frozenset({"output", "kwargs"})
_LANGCHAIN_OBJECT: Final = frozenset({"lc", "type", "id", "kwargs"})
_BLOCK_NOISE: Final = frozenset({"id", "created_at", "finished_at"})
_TEXT_BLOCK: Final = frozenset({"type", "text"})

_AGNO_RESULT: Final = re.compile(
    r"""status='(success|failure)' result=(None|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*") """
    r"""error=(None|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*") """,
    re.DOTALL,
)
_MESSAGE_TEXT: Final = re.compile(r"""(?:ToolMessage\()?content=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")[ ,)]""", re.DOTALL)
_MESSAGE_TEXT_ID: Final = re.compile(r"""\btool_call_id='([^']*)'""")
_MESSAGE_TEXT_FAILED: Final = re.compile(r"""\bstatus='error'""")


class Unwrapped(NamedTuple):
    """What was inside, and what the wrapper itself told."""

    value: Any
    call_id: str | None = None
    is_error: bool = False


NOTHING_INSIDE: Final = Unwrapped(None)


def unwrap_arguments(value: Any, tool: str | None) -> Unwrapped:
    """The arguments as the tool got them."""
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        # What is no JSON may be a Python dict that went through `str()`.
        value = _python_literal(value)
    if not isinstance(value, dict) or _WRAPPING.isdisjoint(value):
        return Unwrapped(value)
    return (
        _python_call(value) or _langchain_call(value) or _langchain_request(value) or _named_call(value, tool) or Unwrapped(value)
    )


def _named_call(value: dict[str, Any], tool: str | None) -> Unwrapped | None:
    """The wrappers of MCP and Gemini CLI, which name the tool.

    The name must be the span's own: a tool may well forward calls and take these very arguments.
    """
    keys = value.keys()
    if keys == _MCP_CALL and tool in (value["tool_name"], None):
        arguments, call_id = value["arguments"], None
    elif keys >= _GEMINI_CALL and tool in (value["name"], None):
        arguments, call_id = value["args"], word(value["callId"])
    else:
        return None
    return Unwrapped({} if arguments is None else arguments, call_id)


def _langchain_request(value: dict[str, Any]) -> Unwrapped | None:
    if value.keys() != _LANGCHAIN_REQUEST or value["type"] != "tool_call":
        return None
    return Unwrapped(value["args"], word(value["id"]))


def _python_call(value: dict[str, Any]) -> Unwrapped | None:
    if not value.keys() <= _PYTHON_CALL or not isinstance(value.get("kwargs"), dict):
        return None
    positional = value.get("args")
    if not positional:
        return Unwrapped(value["kwargs"])
    return Unwrapped({"args": positional, "kwargs": value["kwargs"]})


def _langchain_call(value: dict[str, Any]) -> Unwrapped | None:
    if "input_str" not in value or not value.keys() <= _LANGCHAIN_CALL:
        return None
    extra = value.get("kwargs")
    call_id = word(extra.get("tool_call_id")) if isinstance(extra, dict) else None
    if value.get("inputs") is not None:
        return Unwrapped(value["inputs"], call_id)
    return Unwrapped(_python_literal(value["input_str"]), call_id)


def _python_literal(text: Any) -> Any:
    """The value of a Python literal as text, which is how LangChain hands dicts to its callbacks."""
    if not isinstance(text, str) or not text.startswith(("{", "[", "'", '"')) or len(text) > _MAX_LITERAL_CHARS:
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text


def unwrap_result(value: Any) -> Unwrapped:
    """The result as the tool gave it: message objects reduced to their content, since their ids differ every time."""
    if isinstance(value, dict):
        return _unwrap_object(value)
    if isinstance(value, str):
        return _unwrap_text(value)
    return Unwrapped(_text_of_blocks(value))


def _unwrap_object(value: dict[str, Any]) -> Unwrapped:
    if value.keys() == _LANGCHAIN_END:
        inner = decode_structure(value["output"])
        return _unwrap_object(inner) if isinstance(inner, dict) and inner.keys() != _LANGCHAIN_END else _unwrap_leaf(inner)
    message = _tool_message(value)
    if message is not None:
        return Unwrapped(_text_of_blocks(message["content"]), word(message.get("tool_call_id")), message.get("status") == "error")
    # Gemini FunctionResponse, as OpenInference records what an ADK tool returned.
    if value.keys() == _FUNCTION_RESPONSE and isinstance(value["response"], dict):
        return Unwrapped(value["response"], word(value["id"]))
    # AgentScope ToolResponse: its blocks have ids and times that differ with every call.
    if value.keys() == _AGENTSCOPE_RESPONSE:
        return Unwrapped(_text_of_blocks(_bare(value["content"])), word(value["id"]), value["state"] == "error")
    # LlamaIndex ToolOutput: what was asked stands beside what came back.
    if "raw_output" in value and "is_error" in value:
        return Unwrapped(value["raw_output"], is_error=value["is_error"] is True)
    return Unwrapped(value)


def _unwrap_leaf(value: Any) -> Unwrapped:
    return _unwrap_text(value) if isinstance(value, str) else Unwrapped(_text_of_blocks(value))


def _tool_message(value: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of a LangChain ToolMessage in any of its three JSON serialisations."""
    body: Any = value
    if value.keys() >= _LANGCHAIN_OBJECT and value["type"] == "constructor":
        body = value["kwargs"]
    elif value.get("type") == "tool" and isinstance(value.get("data"), dict):
        body = value["data"]
    if isinstance(body, dict) and "content" in body and "tool_call_id" in body:
        return body
    return None


def _unwrap_text(value: str) -> Unwrapped:
    """A ToolMessage, or what an Agno function returned, that went through `str()`."""
    if value.startswith("status='") and len(value) <= _MAX_LITERAL_CHARS and (agno := _AGNO_RESULT.match(value)):
        failed = agno[1] == "failure"
        told = agno[3] if failed else agno[2]
        return Unwrapped(None if told == "None" else _python_literal(told), is_error=failed)
    if not value.startswith(("content=", "ToolMessage(content=")) or len(value) > _MAX_LITERAL_CHARS:
        return Unwrapped(value)
    content = _MESSAGE_TEXT.match(value)
    call_id = _MESSAGE_TEXT_ID.search(value, content.end()) if content else None
    if content is None or call_id is None:
        return Unwrapped(value)
    return Unwrapped(_python_literal(content[1]), call_id[1], bool(_MESSAGE_TEXT_FAILED.search(value, content.end())))


def _bare(blocks: Any) -> Any:
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        return blocks
    return [{key: block[key] for key in block.keys() - _BLOCK_NOISE} for block in blocks]


def _text_of_blocks(value: Any) -> Any:
    """A list of nothing but text blocks is a text."""
    if not isinstance(value, list) or not value:
        return value
    texts = []
    for block in value:
        if not isinstance(block, dict) or not block.keys() <= _TEXT_BLOCK or not isinstance(block.get("text"), str):
            return value
        texts.append(block["text"])
    return "\n".join(texts)
