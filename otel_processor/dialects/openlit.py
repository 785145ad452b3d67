"""OpenLIT, which writes by the GenAI conventions and differs from them in counts and cost.

Source: PyPI `openlit` `semcov/__init__.py`, `__helpers.py`, `instrumentation/*/utils.py`.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.genai import COUNTS, role_of_operation
from otel_processor.dialects.values import amount, word
from otel_processor.model import Attributes, Role, SpanFacts

_DETAILS: Final = {
    "cache_read_tokens": names.OPENLIT_CACHED_TOKENS,
    "cache_write_tokens": names.OPENLIT_CACHE_WRITE_TOKENS,
    "reasoning_tokens": names.OPENLIT_REASONING_TOKENS,
}
_USAGE: Final = Table.of(counts={name: (*keys, _DETAILS[name]) if name in _DETAILS else keys for name, keys in COUNTS.items()})
_BESIDE_INPUT: Final = frozenset({"anthropic", "aws.bedrock"})
"""Providers whose cached tokens are not in the input as written (`anthropic/utils.py`, `bedrock/utils.py`)."""
_BESIDE_OUTPUT: Final = frozenset({"gcp.gemini"})
"""Providers whose reasoning is not in the output as written (`google_ai_studio/utils.py`)."""


def _fields(span: SpanFacts, role: Role) -> Fields:
    if role is not Role.MODEL:
        return {}
    attributes = span.attributes
    found = _USAGE.read(attributes)
    provider = word(attributes.get(names.PROVIDER))
    if provider in _BESIDE_INPUT and "input_tokens" in found:
        found["input_tokens"] += found.get("cache_read_tokens", 0) + found.get("cache_write_tokens", 0)
    if provider in _BESIDE_OUTPUT and "output_tokens" in found:
        found["output_tokens"] += found.get("reasoning_tokens", 0)
    found |= _cost(attributes)
    return found


def _cost(attributes: Attributes) -> Fields:
    """A cost of nothing stands where the model's price is not known."""
    cost = amount(attributes.get(names.USAGE_COST))
    return {} if cost is None else {"cost_usd": cost or None}


OPENLIT: Final = Dialect(
    name="openlit",
    markers=frozenset({names.OPENLIT_SDK_VERSION}),
    role=role_of_operation,
    fields=_fields,
)
