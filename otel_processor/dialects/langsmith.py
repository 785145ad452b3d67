"""LangSmith's OpenTelemetry export, which tells LangChain runs partly by the GenAI conventions.

Source: PyPI `langsmith` `_internal/otel/_otel_exporter.py`; usage as in `langchain_core.messages.ai.UsageMetadata`,
filled in by `langchain_anthropic` and `langchain_openai` (`_create_usage_metadata`).
What it writes by the conventions (tool name, call id, prompt and completion) is read there.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.finish import first_reason
from otel_processor.dialects.responses import object_in, read_response
from otel_processor.dialects.values import amount, count, decode_structure, first_content, word
from otel_processor.dialects.wrappers import unwrap_arguments
from otel_processor.model import Attributes, Role, SpanFacts

# A `prompt` run is the rendering of a template, although the writer gives it the operation `chat`.
_ROLES: Final = {"llm": Role.MODEL, "tool": Role.TOOL}

_TIERS: Final = ("priority", "flex")
_CACHE_WRITES: Final = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")

_WHO: Final = {
    "agent": (names.LANGSMITH_AGENT_NAME,),
    "conversation_id": (names.LANGSMITH_THREAD_ID, names.LANGSMITH_SESSION_ID, names.LANGSMITH_CONVERSATION_ID),
}
_PLAIN: Final = Table.of(words=_WHO)
# The provider by the conventions is guessed from the model's name, and `langchain` where that fails.
_MODEL: Final = Table.of(
    words=_WHO | {"model": (names.RESPONSE_MODEL, names.LANGSMITH_MODEL), "provider": (names.LANGSMITH_PROVIDER,)}
)


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    kind = word(attributes.get(names.LANGSMITH_KIND))
    if kind is None:
        return None
    if kind == "chain" and _is_agent(attributes):
        return Role.AGENT
    return _ROLES.get(kind, Role.OTHER)


def _is_agent(attributes: Attributes) -> bool:
    """All runs inside an agent carry its name; those inside its graph also carry the node that they belong to."""
    return attributes.get(names.LANGSMITH_AGENT_NAME) is not None and attributes.get(names.LANGSMITH_NODE) is None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    if role is not Role.MODEL:
        found = _PLAIN.read(attributes)
        if role is Role.TOOL:
            _add_content(found, attributes)
        return found
    found = _MODEL.read(attributes)
    _add_usage(found, attributes)
    said = read_response(attributes.get(names.COMPLETION)).fields()
    if reason := first_reason(attributes.get(names.FINISH_REASONS)):
        said["finish_reason"] = reason
    return found | said


def _add_content(found: Fields, attributes: Attributes) -> None:
    arguments = decode_structure(first_content(attributes, (names.PROMPT,)))
    if isinstance(arguments, dict) and arguments.keys() == {"input"} and isinstance(arguments["input"], str):
        # Older LangChain hands the arguments on as one text, which is a Python dict unless the tool takes a text.
        unwrapped = unwrap_arguments(arguments["input"], None).value
        arguments = unwrapped if isinstance(unwrapped, dict) else arguments
    if arguments is not None:
        found["arguments"] = arguments
    result = decode_structure(first_content(attributes, (names.COMPLETION,)))
    if isinstance(result, dict) and result.keys() == {"output"}:
        result = result["output"]
    # An empty object stands where the tool failed.
    found["result"] = None if result == {} else result


def _add_usage(found: Fields, attributes: Attributes) -> None:
    """Input includes what was cached and output the reasoning: the details are parts of the totals."""
    usage = object_in(attributes.get(names.LANGSMITH_USAGE))
    inside = object_in(usage.get("input_token_details")) or _details(attributes.get(names.LANGSMITH_INPUT_DETAILS))
    outside = object_in(usage.get("output_token_details")) or _details(attributes.get(names.LANGSMITH_OUTPUT_DETAILS))
    # LangChain's OpenAI client puts another price's name before the details, and before what they leave of the input.
    tier = next((name for name in _TIERS if name in inside), None)
    prefix = f"{tier}_" if tier else ""
    kept = [count(inside.get(name)) for name in ("cache_creation", *_CACHE_WRITES)]
    counts: dict[str, Any] = {
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cache_read_tokens": inside.get(f"{prefix}cache_read"),
        # Its Anthropic client tells 0 for all once it tells them by how long they are kept.
        "cache_write_tokens": None if kept == [None] * len(kept) else sum(number or 0 for number in kept),
        "cache_write_1h_tokens": inside.get(_CACHE_WRITES[1]),
        "reasoning_tokens": outside.get(f"{prefix}reasoning"),
    }
    for name, value in counts.items():
        if (number := count(value)) is not None:
            found[name] = number
    if tier:
        found["service_tier"] = tier
    if (cost := amount(usage.get("total_cost"))) is not None:
        found["cost_usd"] = cost


def _details(value: Any) -> dict[str, Any]:
    """Details that were written as Python prints a dict."""
    unwrapped = unwrap_arguments(value, None).value
    return unwrapped if isinstance(unwrapped, dict) else {}


LANGSMITH: Final = Dialect(
    name="langsmith",
    markers=frozenset({names.LANGSMITH_KIND}),
    role=_role,
    fields=_fields,
)
