"""Haystack's own tracer: agents, their steps, and components whose calls stand inside what went in and came out.

Source: haystack-ai 3.4 `haystack/components/agents/agent.py`, `tool_calling.py`; haystack-ai 2.31
`haystack/core/pipeline/pipeline.py`, `components/tools/tool_invoker.py`; `ChatMessage.to_dict`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.messages import read_messages
from otel_processor.dialects.told import made_here, told_in_messages
from otel_processor.dialects.values import count, decode_structure, first_content, word
from otel_processor.model import Attributes, Role, SpanFacts, Told

_ROLES: Final = {
    "haystack.pipeline.run": Role.WORKFLOW,
    "haystack.async_pipeline.run": Role.WORKFLOW,
    "haystack.agent.run": Role.AGENT,
    "haystack.agent.step": Role.OTHER,
    "haystack.agent.step.llm": Role.MODEL,
    "haystack.agent.step.tool": Role.TOOL,
}
_OI_ROLES: Final = (("Pipeline.run", Role.WORKFLOW), ("Agent.run", Role.AGENT))
"""OpenInference calls both a chain."""

_COMPONENT: Final = "haystack.component.run"
_INVOKER: Final = "ToolInvoker"
_MODELS: Final = ("ChatGenerator", "Generator")

_USAGE: Final = {
    # As OpenAI counts: cached tokens are part of the prompt, reasoning is part of the completion.
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
}
_USAGE_DETAILS: Final = {
    "cache_read_tokens": ("prompt_tokens_details", "cached_tokens"),
    "cache_write_tokens": ("prompt_tokens_details", "cache_write_tokens"),
    "reasoning_tokens": ("completion_tokens_details", "reasoning_tokens"),
}


# An assistant's message ends with what the model's server told beside it; what it says comes before.
_PRINTED_ANSWER: Final = "ChatMessage(_role=<ChatRole.ASSISTANT"
_PRINTED_MODEL: Final = re.compile(r"'model': '([^']{1,200})'")
_PRINTED_COUNTS: Final = tuple(
    (field, re.compile(rf"'{key}': (\d{{1,12}})\b"))
    for field, key in (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))
)


def _role(span: SpanFacts) -> Role | None:
    if span.scope == names.HAYSTACK_OI_SCOPE:
        return next((role for end, role in _OI_ROLES if span.name.endswith(end)), None)
    if span.name != _COMPONENT:
        return _ROLES.get(span.name)
    component = word(span.attributes.get(names.HAYSTACK_COMPONENT_TYPE)) or ""
    if component == _INVOKER:
        # Several calls in one span are told by `told_by`; one is the span's own.
        return Role.TOOL if len(_invoked(span.attributes)) == 1 else Role.OTHER
    return Role.MODEL if component.endswith(_MODELS) and "Image" not in component else Role.OTHER


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    if role is Role.MODEL:
        return _of_model(attributes)
    if role is Role.TOOL:
        return _of_component(attributes) if span.name == _COMPONENT else _of_tool(attributes)
    if role.is_task_root:
        if attributes.get(names.OI_KIND) is not None:
            return _used_by_agent(attributes) if role is Role.AGENT else {}
        return {"agent": span.name.removesuffix(".run").removeprefix("haystack.")}
    return {}


def _used_by_agent(attributes: Attributes) -> Fields:
    """What an agent used altogether, as its messages say that OpenInference writes as Python prints them.

    The messages that it was given are among those that it gives back, and are no work of its own.
    """
    given, got = (_printed(attributes.get(key)) for key in (names.OI_INPUT, names.OI_OUTPUT))
    own = [message for message in got if message not in given and message.startswith(_PRINTED_ANSWER)]
    found: Fields = {}
    for message in own:
        for field, key in _PRINTED_COUNTS:
            if told := key.findall(message):
                found[field] = found.get(field, 0) + int(told[-1])
        if told := _PRINTED_MODEL.findall(message):
            found.setdefault("model", told[-1])
    return found


def _printed(written: Any) -> list[str]:
    messages = decode_structure(written)
    messages = messages.get("messages") if isinstance(messages, dict) else None
    return [message for message in messages if isinstance(message, str)] if isinstance(messages, list) else []


def _of_tool(attributes: Attributes) -> Fields:
    found: Fields = {}
    if (tool := word(attributes.get(names.HAYSTACK_TOOL_NAME))) is not None:
        found["tool"] = tool
    for field, key in (("arguments", names.HAYSTACK_TOOL_INPUT), ("result", names.HAYSTACK_TOOL_OUTPUT)):
        value = first_content(attributes, (key,))
        if value is not None:
            found[field] = value
    return found


def _of_component(attributes: Attributes) -> Fields:
    """The one call that a tool invoker made."""
    told = _invoked(attributes)
    if len(told) != 1:
        return {}
    call = told[0]
    found: Fields = {"call_id": call.call_id, "tool": call.tool, "arguments": call.arguments, "result": call.result}
    return {name: value for name, value in found.items() if value is not None} | ({"is_error": True} if call.is_error else {})


def _invoked(attributes: Attributes) -> tuple[Told, ...]:
    output = decode_structure(attributes.get(names.HAYSTACK_COMPONENT_OUTPUT))
    return told_in_messages(output.get("tool_messages")) if isinstance(output, dict) else ()


def _told(span: SpanFacts) -> tuple[Told, ...]:
    if word(span.attributes.get(names.HAYSTACK_COMPONENT_TYPE)) != _INVOKER:
        return ()
    told = _invoked(span.attributes)
    return made_here(told) if len(told) > 1 else ()


def _of_model(attributes: Attributes) -> Fields:
    output = decode_structure(first_content(attributes, (names.HAYSTACK_MODEL_OUTPUT, names.HAYSTACK_COMPONENT_OUTPUT)))
    replies = output.get("replies") if isinstance(output, dict) else None
    if not isinstance(replies, list):
        return {}
    found = read_messages(replies).fields()
    beside = output.get("meta")
    metas = [reply.get("meta") for reply in replies if isinstance(reply, dict)] or (beside if isinstance(beside, list) else [])
    for meta in metas[:1]:
        if isinstance(meta, dict):
            _add_meta(found, meta)
    return found


def _add_meta(found: Fields, meta: Mapping[str, Any]) -> None:
    for field in ("model", "finish_reason"):
        value = word(meta.get(field))
        if value is not None:
            found[field] = value
    usage = meta.get("usage")
    if not isinstance(usage, dict):
        return
    for field, keys in _USAGE.items():
        told = next((number for key in keys if (number := count(usage.get(key))) is not None), None)
        if told is not None:
            found[field] = told
    for field, (details, key) in _USAGE_DETAILS.items():
        part = usage.get(details)
        number = count(part.get(key)) if isinstance(part, dict) else None
        if number is not None:
            found[field] = number


HAYSTACK: Final = Dialect(
    name="haystack",
    markers=frozenset({names.HAYSTACK_COMPONENT_TYPE, names.HAYSTACK_TOOL_NAME}),
    scopes=frozenset({names.HAYSTACK_SCOPE, names.HAYSTACK_OI_SCOPE}),
    role=_role,
    fields=_fields,
    told=_told,
    state_keys=(names.HAYSTACK_TOOL_ERROR,),
)
