"""OpenTelemetry GenAI semantic conventions, from their first release to the latest, and those who write by them.

Source: open-telemetry/semantic-conventions `docs/gen-ai`, later open-telemetry/semantic-conventions-genai; events of
1.27 and before (`gen_ai.content.*`), of 1.28 to 1.36 (`gen_ai.choice`, `gen_ai.tool.message`) and since.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.finish import first_reason
from otel_processor.dialects.messages import read_messages
from otel_processor.dialects.told import told_in_messages
from otel_processor.dialects.values import count, decode_structure, first_content, word
from otel_processor.model import Attributes, Role, SpanFacts, Told

_ROLES: Final = {
    "execute_tool": Role.TOOL,
    "tool_call": Role.TOOL,
    "chat": Role.MODEL,
    "generate_content": Role.MODEL,
    "text_completion": Role.MODEL,
    "llm_call": Role.MODEL,
    "responses": Role.MODEL,
    "llm_response": Role.MODEL,
    "invoke_agent": Role.AGENT,
    "invoke_workflow": Role.WORKFLOW,
    "create_agent": Role.OTHER,
    "plan": Role.OTHER,
    "embeddings": Role.OTHER,
    "retrieval": Role.OTHER,
    "agent_step": Role.OTHER,
    "execute_task": Role.OTHER,
    "chain": Role.OTHER,
}

_AGENT: Final[dict[str, tuple[str, ...]]] = {"agent": (names.AGENT_NAME,)}
_WORKFLOW: Final[dict[str, tuple[str, ...]]] = {"agent": (names.WORKFLOW_NAME, names.AGENT_NAME)}
_CONVERSATION: Final[dict[str, tuple[str, ...]]] = {"conversation_id": (names.CONVERSATION_ID, names.SESSION_ID)}

_MODEL_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "model": (names.RESPONSE_MODEL, names.REQUEST_MODEL),
    "provider": (names.PROVIDER, names.SYSTEM),
}
COUNTS: Final = {
    # The conventions count cached tokens as input and reasoning as output.
    "input_tokens": (names.INPUT_TOKENS, names.PROMPT_TOKENS),
    "output_tokens": (names.OUTPUT_TOKENS, names.COMPLETION_TOKENS),
    "cache_read_tokens": (
        names.CACHE_READ_TOKENS,
        names.CACHE_READ_TOKENS_FLAT,
        names.CACHE_READ_TOKENS_DETAIL,
        names.INPUT_CACHED_TOKENS,
        names.INPUT_TOKENS_CACHED,
    ),
    "cache_write_tokens": (
        names.CACHE_WRITE_TOKENS,
        names.CACHE_CREATION_TOKENS,
        names.CACHE_CREATION_TOKENS_FLAT,
        names.CACHE_WRITE_TOKENS_FLAT,
        names.CACHE_WRITE_TOKENS_DETAIL,
    ),
    "reasoning_tokens": (
        names.REASONING_TOKENS,
        names.REASONING_TOKENS_FLAT,
        names.REASONING_TOKENS_DETAIL,
        names.THINKING_TOKENS,
        names.OUTPUT_TOKENS_REASONING,
    ),
}
_AGGREGATES: Final = {
    "input_tokens": names.AGGREGATED_INPUT_TOKENS,
    "output_tokens": names.AGGREGATED_OUTPUT_TOKENS,
    "cache_read_tokens": names.AGGREGATED_CACHE_READ_TOKENS,
    "cache_write_tokens": names.AGGREGATED_CACHE_WRITE_TOKENS,
    "reasoning_tokens": names.AGGREGATED_REASONING_TOKENS,
}
_TOTALS: Final = {name: (aggregate, *COUNTS[name]) for name, aggregate in _AGGREGATES.items()}
_COST: Final = {
    "cost_usd": (names.OPERATION_COST, names.USAGE_COST, names.USAGE_TOTAL_COST, names.TOTAL_COST, names.LITELLM_COST)
}

_TOOL_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "tool": (names.TOOL_NAME,),
    "call_id": (names.TOOL_CALL_ID, names.TOOL_CALL_ID_FLAT),
}

_TABLES: Final = {
    Role.TOOL: Table.of(words=_TOOL_WORDS | _AGENT | _CONVERSATION),
    # What the provider calls its answer: two instrumentations of one call agree on it.
    Role.MODEL: Table.of(
        words=_MODEL_WORDS
        | {"call_id": (names.RESPONSE_ID,), "service_tier": (names.OPENAI_SERVICE_TIER, names.OPENAI_SERVICE_TIER_OLD)}
        | _AGENT
        | _CONVERSATION,
        counts=COUNTS,
        amounts=_COST,
    ),
    Role.AGENT: Table.of(words=_MODEL_WORDS | _AGENT | _CONVERSATION, counts=_TOTALS, amounts=_COST),
    Role.WORKFLOW: Table.of(words=_MODEL_WORDS | _WORKFLOW | _CONVERSATION, counts=_TOTALS, amounts=_COST),
    Role.OTHER: Table.of(words=_AGENT | _CONVERSATION),
}

_MESSAGE_EVENTS: Final = {
    names.USER_MESSAGE_EVENT: "user",
    names.ASSISTANT_MESSAGE_EVENT: "assistant",
    names.TOOL_MESSAGE_EVENT: "tool",
}

_FRAMEWORKS: Final = frozenset({"langchain", "Langchain", "LangChain"})
"""Written where the provider belongs by those who see the framework alone."""

_ARGUMENTS: Final = (names.TOOL_ARGUMENTS, names.TOOL_INPUT, names.PROMPT)
_RESULT: Final = (names.TOOL_RESULT, names.TOOL_OUTPUT, names.COMPLETION)
_FINISH: Final = (names.FINISH_REASONS, names.FINISH_REASON, names.ANTHROPIC_STOP_REASON)


def role_of_operation(span: SpanFacts) -> Role | None:
    """What `gen_ai.operation.name` says."""
    operation = word(span.attributes.get(names.OPERATION))
    return _ROLES.get(operation) if operation else None


def _guess(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    if word(attributes.get(names.OPERATION)):
        return None
    if attributes.get(names.TOOL_NAME) is not None:
        return Role.TOOL if _is_tool_without_operation(span) else None
    return Role.MODEL if attributes.get(names.REQUEST_MODEL) is not None else None


def _is_tool_without_operation(span: SpanFacts) -> bool:
    attributes = span.attributes
    if attributes.get(names.MCP_METHOD) == "tools/call":
        return True
    return attributes.get(names.TOOL_ARGUMENTS) is not None or attributes.get(names.TOOL_RESULT) is not None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLES[role].read(attributes)
    if role is Role.TOOL:
        _add_content(found, span, attributes)
    elif role is Role.MODEL:
        _add_answer(found, span, attributes)
        _add_cached(found, attributes)
    elif role.is_task_root:
        _add_finish(found, attributes)
        if "finish_reason" not in found and span.events:
            _add_missing(found, {"finish_reason": _event_content(span, names.CHOICE_EVENT, names.EVENT_FINISH_REASON)})
    if found.get("agent") == "OpenAI Agent" or (role is Role.MODEL and names.COPILOT_SESSION in attributes):
        # What one writer puts on every span in place of the agent's name; another names its requests there.
        found.pop("agent", None)
    if found.get("provider") in _FRAMEWORKS and (provider := word(attributes.get(names.TL_LC_PROVIDER))) is not None:
        found["provider"] = provider
    return found


def _add_cached(found: Fields, attributes: Attributes) -> None:
    """Count what was cached as input, where the total shows that the writer counts it beside."""
    cached = (found.get("cache_read_tokens") or 0) + (found.get("cache_write_tokens") or 0)
    counted = found.get("input_tokens")
    if not cached or counted is None:
        return
    if count(attributes.get(names.USAGE_TOTAL_TOKENS)) == counted + cached + (found.get("output_tokens") or 0):
        found["input_tokens"] = counted + cached


def _add_finish(found: Fields, attributes: Attributes) -> None:
    for key in _FINISH:
        value = attributes.get(key)
        if value is not None and (reason := first_reason(value)) is not None:
            found["finish_reason"] = reason
            return


def _add_missing(found: Fields, more: Fields) -> None:
    for name, value in more.items():
        if value is not None and value not in ("", ()) and name not in found:
            found[name] = value


def _add_content(found: Fields, span: SpanFacts, attributes: Attributes) -> None:
    arguments = first_content(attributes, _ARGUMENTS)
    result = first_content(attributes, _RESULT)
    if arguments is None and span.events:
        arguments = _event_content(span, names.TOOL_MESSAGE_EVENT, names.EVENT_CONTENT)
        if arguments is None:
            arguments = _part_of_details(span, names.INPUT_MESSAGES, "tool_call", "arguments")
    if result is None and span.events:
        result = _event_content(span, names.CHOICE_EVENT, names.EVENT_MESSAGE)
        if result is None:
            result = _part_of_details(span, names.OUTPUT_MESSAGES, "tool_call_response", "response")
    if arguments is None and result is None:
        # Google's instrumentation, in its first releases, told them as it tells any function's.
        arguments = _parameters(attributes)
        result = attributes.get(names.CODE_RETURN_VALUE)
    if arguments is not None:
        found["arguments"] = arguments
    if result is not None:
        found["result"] = result


def _parameters(attributes: Attributes) -> dict[str, Any] | None:
    prefix, suffix = names.CODE_PARAMETERS_PREFIX, ".value"
    named = {
        key[len(prefix) : -len(suffix)]: value
        for key, value in attributes.items()
        if key.startswith(prefix) and key.endswith(suffix)
    }
    return named or None


def _add_answer(found: Fields, span: SpanFacts, attributes: Attributes) -> None:
    _add_finish(found, attributes)
    messages = attributes.get(names.OUTPUT_MESSAGES)
    if messages is None:
        messages = attributes.get(names.COMPLETION)
    if messages is None and span.events:
        messages = _message_in_events(span)
    if messages is not None:
        _add_missing(found, read_messages(messages).fields())
    if "finish_reason" not in found and span.events:
        _add_missing(found, {"finish_reason": _event_content(span, names.CHOICE_EVENT, names.EVENT_FINISH_REASON)})
    _add_missing(found, {"reasoning": word(attributes.get(names.REASONING_CONTENT))})


def _message_in_events(span: SpanFacts) -> Any:
    for event, key in (
        (names.DETAILS_EVENT, names.OUTPUT_MESSAGES),
        (names.CHOICE_EVENT, names.EVENT_MESSAGE),
        (names.CHOICE_EVENT, names.EVENT_CONTENT),
        (names.COMPLETION_EVENT, names.COMPLETION),
    ):
        value = _event_content(span, event, key)
        if value is not None:
            return value
    return None


def _event_content(span: SpanFacts, event_name: str, key: str) -> Any:
    for event in reversed(span.events):
        if event.name == event_name:
            value = (event.attributes or {}).get(key)
            if value is not None and value != "":
                return value
    return None


def _part_of_details(span: SpanFacts, key: str, part_type: str, part_key: str) -> Any:
    """What a tool was asked, or answered, in the messages of an operation-details event."""
    messages = decode_structure(_event_content(span, names.DETAILS_EVENT, key))
    for message in messages if isinstance(messages, list) else ():
        parts = message.get("parts") if isinstance(message, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("type") == part_type:
                return part.get(part_key)
    return None


def _told(span: SpanFacts) -> tuple[Told, ...]:
    """The tool results that a model is given, in any of the places where its input may stand."""
    if (role_of_operation(span) or _guess(span)) is not Role.MODEL:
        return ()
    messages = first_content(span.attributes, (names.INPUT_MESSAGES, names.PROMPT))
    if messages is None:
        messages = _event_content(span, names.DETAILS_EVENT, names.INPUT_MESSAGES)
    if messages is not None:
        return told_in_messages(messages)
    # Events of 1.28 to 1.36: one for each message.
    given = []
    for event in span.events:
        if event.name in _MESSAGE_EVENTS:
            facts = event.attributes or {}
            given.append(
                {"role": _MESSAGE_EVENTS[event.name], **facts, "content": decode_structure(facts.get(names.EVENT_CONTENT))}
            )
    return told_in_messages(given)


GENAI: Final = Dialect(
    name="genai",
    markers=frozenset(
        {
            names.OPERATION,
            names.TOOL_NAME,
            names.TOOL_ARGUMENTS,
            names.TOOL_RESULT,
            names.OUTPUT_MESSAGES,
            names.REQUEST_MODEL,
            names.RESPONSE_MODEL,
            names.AGENT_NAME,
            names.CONVERSATION_ID,
            names.INPUT_TOKENS,
            names.PROMPT_TOKENS,
        }
    ),
    role=role_of_operation,
    guess=_guess,
    fields=_fields,
    told=_told,
    state_keys=(names.TOOL_STATUS, names.TOOL_STATUS_OLD, names.TASK_STATUS),
)
