"""Google ADK, where it goes beyond the GenAI conventions: its own tree up to 1.x, its own content attributes since.

Source: google-adk 1.0.0 `google/adk/telemetry.py`, `flows/llm_flows/functions.py`; google-adk 2.13.0
`google/adk/telemetry/tracing.py`, `_token_usage.py`. Up to 1.x a tool's result is told by a sibling, see `told_by`.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.messages import read_messages
from otel_processor.dialects.told import told_result
from otel_processor.dialects.values import count, decode_structure, first_content, word
from otel_processor.model import Attributes, Role, SpanFacts, Told

_MERGED: Final = "(merged tools)"
"""Parallel calls are told once each, and once together."""

_TABLE: Final = Table.of(words={"conversation_id": (names.ADK_SESSION_ID,)})
_NO_CONTENT: Final = "{}"

_NAMED: Final = (
    ("agent_run [", Role.AGENT),
    ("tool_call [", Role.TOOL),
    ("tool_response", Role.OTHER),
    # Attributes come when the tool has answered: one that raised may have none but its name.
    ("execute_tool ", Role.TOOL),
)


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    if attributes.get(names.TOOL_NAME) == _MERGED:
        return Role.OTHER
    if attributes.get(names.OPERATION) is not None or attributes.get(names.OI_KIND) is not None:
        return None
    name = span.name
    if name == "call_llm":
        # From some 1.x on it surrounds a `generate_content` span: nested spans that tell one call count once.
        return Role.MODEL
    if name == "invocation":
        return Role.WORKFLOW
    return next((role for start, role in _NAMED if name.startswith(start)), None)


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLE.read(attributes)
    if role is Role.TOOL:
        _add_tool(found, span, attributes)
    elif role is Role.MODEL:
        _add_model(found, attributes)
    elif role is Role.AGENT and (agent := _in_brackets(span.name)) is not None:
        found["agent"] = agent
    elif role is Role.WORKFLOW and span.name == "invocation":
        # Not the name of anything.
        found["agent"] = None
    return found


def _in_brackets(name: str) -> str | None:
    _, bracket, rest = name.partition(" [")
    return word(rest.removesuffix("]")) if bracket else None


def _add_tool(found: Fields, span: SpanFacts, attributes: Attributes) -> None:
    if attributes.get(names.TOOL_NAME) is None:
        tool = _in_brackets(span.name) or word(span.name.removeprefix("execute_tool "))
        if tool is not None:
            found["tool"] = tool
    asked = first_content(attributes, (names.ADK_TOOL_ARGUMENTS,))
    told = first_content(attributes, (names.ADK_TOOL_RESPONSE,))
    if asked == _NO_CONTENT and told == _NO_CONTENT:
        # Both are written so when content is not to be recorded.
        return
    if asked is not None:
        found["arguments"] = asked
    result = decode_structure(told)
    if result is not None and result != {"result": "<not specified>"}:
        found["result"] = told


def _add_model(found: Fields, attributes: Attributes) -> None:
    answer = decode_structure(attributes.get(names.ADK_MODEL_RESPONSE))
    if not isinstance(answer, dict) or not answer:
        return
    content = answer.get("content")
    if isinstance(content, dict):
        found |= read_messages([content]).fields()
    if (reason := word(answer.get("finish_reason"))) is not None:
        found["finish_reason"] = reason
    usage = answer.get("usage_metadata")
    if isinstance(usage, dict):
        _add_usage(found, usage)


def _add_usage(found: Fields, usage: dict[str, Any]) -> None:
    """Gemini's counts: cached tokens are part of the prompt, thoughts are beside the candidates."""
    for name, parts in (
        ("input_tokens", ("prompt_token_count", "tool_use_prompt_token_count")),
        ("output_tokens", ("candidates_token_count", "thoughts_token_count")),
        ("cache_read_tokens", ("cached_content_token_count",)),
        ("reasoning_tokens", ("thoughts_token_count",)),
    ):
        counts = [told for part in parts if (told := count(usage.get(part))) is not None]
        if counts:
            found[name] = sum(counts)


def _told(span: SpanFacts) -> tuple[Told, ...]:
    """The result of the call next to it, in an event that ADK 1.x writes on a `tool_response` span."""
    if not span.name.startswith("tool_response"):
        return ()
    event = decode_structure(span.attributes.get(names.ADK_TOOL_RESPONSE))
    content = event.get("content") if isinstance(event, dict) else None
    parts = content.get("parts") if isinstance(content, dict) else None
    told = []
    for part in parts if isinstance(parts, list) else ():
        answer = part.get("function_response") if isinstance(part, dict) else None
        if isinstance(answer, dict) and answer.get("response") is not None:
            told.append(told_result(word(answer.get("id")), word(answer.get("name")), answer["response"]))
    return tuple(told)


ADK: Final = Dialect(
    name="adk",
    markers=frozenset({names.ADK_TOOL_ARGUMENTS, names.ADK_TOOL_RESPONSE, names.ADK_MODEL_RESPONSE, names.ADK_SESSION_ID}),
    scopes=frozenset({names.ADK_SCOPE}),
    role=_role,
    fields=_fields,
    told=_told,
)
