"""Langfuse SDK 3 and later: its decorators, its OpenAI client and its LangChain handler.

Source: PyPI `langfuse` `_client/attributes.py`, `_client/constants.py`, `langchain/CallbackHandler.py`, `openai.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table, content
from otel_processor.dialects.responses import object_in, read_response
from otel_processor.dialects.values import amount, count, decode_structure, flag, word
from otel_processor.model import Attributes, Role, SpanFacts

_ROLES: Final = {"generation": Role.MODEL, "tool": Role.TOOL, "agent": Role.AGENT}

_TABLE: Final = Table.of(
    words={"model": (names.LANGFUSE_MODEL,), "conversation_id": (names.LANGFUSE_SESSION_ID, names.SESSION_ID)}
)

_INPUT: Final = ("input", "input_tokens", "prompt_tokens")
_OUTPUT: Final = ("output", "output_tokens", "completion_tokens")
_TOTAL: Final = ("total", "total_tokens")
_CACHE_READ: Final = ("input_cache_read", "input_cached_tokens", "cache_read_input_tokens", "input_cache_read_tokens")
_CACHE_WRITE: Final = ("input_cache_creation", "cache_creation_input_tokens", "input_cache_write", "input_cache_creation_tokens")
_CACHE_WRITE_5M: Final = ("input_ephemeral_5m_input_tokens",)
_CACHE_WRITE_1H: Final = ("input_ephemeral_1h_input_tokens",)
_TIERS: Final = ("priority", "flex")
_REASONING: Final = ("output_reasoning", "output_reasoning_tokens", "reasoning_tokens")
_INPUT_DETAILS: Final = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS: Final = ("completion_tokens_details", "output_tokens_details")


def _role(span: SpanFacts) -> Role | None:
    kind = word(span.attributes.get(names.LANGFUSE_TYPE))
    if kind is None:
        return None
    role = _ROLES.get(kind.lower(), Role.OTHER)
    if role is Role.OTHER and flag(span.attributes.get(names.LANGFUSE_IS_ROOT)):
        return Role.WORKFLOW
    return role


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLE.read(attributes)
    agent = _encoded_word(attributes.get(names.LANGFUSE_LC_AGENT_NAME))
    if role is Role.AGENT or (agent is None and role is Role.WORKFLOW):
        agent = span.name
    if agent is not None:
        found["agent"] = agent
    if role is Role.TOOL:
        found["tool"] = span.name
        found |= content(attributes, arguments=(names.LANGFUSE_INPUT,), result=(names.LANGFUSE_OUTPUT,))
    elif role is Role.MODEL:
        _add_model(found, attributes)
    return found


def _encoded_word(value: Any) -> str | None:
    """Metadata are JSON, texts included."""
    return word(decode_structure(value))


def _add_model(found: Fields, attributes: Attributes) -> None:
    found |= read_response(attributes.get(names.LANGFUSE_OUTPUT)).fields()
    if (provider := _encoded_word(attributes.get(names.LANGFUSE_LC_PROVIDER))) is not None:
        found["provider"] = provider
    usage = object_in(attributes.get(names.LANGFUSE_USAGE))
    if usage:
        found |= _counts(usage)
    costs = object_in(attributes.get(names.LANGFUSE_COST))
    cost = amount(costs.get("total")) if "total" in costs else _sum(map(amount, costs.values()))
    if cost is not None:
        found["cost_usd"] = cost


def _counts(usage: Mapping[str, Any]) -> Fields:
    """Counts with cached tokens in the input and reasoning in the output.

    Langfuse's own names are buckets that exclude each other, and their sum is the total where none is given; its
    LangChain handler subtracts accordingly. Who gives a total that is input plus output has not subtracted.
    """
    tokens, output, total = _first(usage, _INPUT), _first(usage, _OUTPUT), _first(usage, _TOTAL)
    beside_input = _apart(usage, "input_", _INPUT + _INPUT_DETAILS, ("cache_read_input_tokens", "cache_creation_input_tokens"))
    beside_output = _apart(usage, "output_", _OUTPUT + _OUTPUT_DETAILS, ())
    if total is None:
        apart_in, apart_out = True, True
    else:
        missing = total - (tokens or 0) - (output or 0)
        both = missing >= beside_input + beside_output
        apart_in, apart_out = both or missing == beside_input, both or missing == beside_output
    inside, outside = _details(usage, _INPUT_DETAILS), _details(usage, _OUTPUT_DETAILS)
    short, long = _first(usage, _CACHE_WRITE_5M), _first(usage, _CACHE_WRITE_1H)
    written = [number for number in (_first(usage, _CACHE_WRITE), short, long) if number is not None]
    counts = {
        "input_tokens": tokens + beside_input if tokens is not None and apart_in else tokens,
        "output_tokens": output + beside_output if output is not None and apart_out else output,
        "cache_read_tokens": _first(usage, _CACHE_READ) or count(inside.get("cached_tokens")),
        "cache_write_tokens": sum(written) if written else None,
        "cache_write_1h_tokens": long,
        "reasoning_tokens": _first(usage, _REASONING) or count(outside.get("reasoning_tokens")),
    }
    found: Fields = {name: value for name, value in counts.items() if value is not None}
    tier = next((name for name in _TIERS if count(usage.get(f"input_{name}"))), None)
    return found | {"service_tier": tier} if tier else found


def _apart(usage: Mapping[str, Any], prefix: str, totals: tuple[str, ...], more: tuple[str, ...]) -> int:
    """The tokens in buckets beside the plain one; service tiers are told again and are none."""
    return sum(
        count(value) or 0
        for name, value in usage.items()
        if (name in more or (name.startswith(prefix) and name not in totals)) and "priority" not in name
    )


def _details(usage: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    """OpenAI's own details, which are parts of its totals."""
    return next((usage[key] for key in keys if isinstance(usage.get(key), dict)), {})


def _first(usage: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    return next((number for key in keys if (number := count(usage.get(key))) is not None), None)


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [value for value in amounts if value is not None]
    return sum(known) if known else None


LANGFUSE: Final = Dialect(
    name="langfuse",
    markers=frozenset({names.LANGFUSE_TYPE}),
    role=_role,
    fields=_fields,
    state_keys=(names.LANGFUSE_LEVEL,),
    message_keys=(names.LANGFUSE_STATUS_MESSAGE,),
)
