"""CrewAI: Traceloop calls crew, task and agent alike `invoke_agent`, OpenInference names an agent after its task.

Source: traceloop/openllmetry `opentelemetry-instrumentation-crewai`; Arize-ai/openinference
`openinference-instrumentation-crewai/_wrappers.py`. Traceloop records no tool calls of CrewAI.
"""

from __future__ import annotations

import re
from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields
from otel_processor.dialects.values import count, text_of, word
from otel_processor.model import Attributes, Role, SpanFacts

_USAGE: Final = {
    # As OpenAI counts: cached tokens are part of the prompt, reasoning is part of the completion.
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_prompt_tokens": "cache_read_tokens",
    "cache_creation_tokens": "cache_write_tokens",
    "reasoning_tokens": "reasoning_tokens",
}
_COUNT: Final = re.compile(r"(\w+)=(\d+)")
_MAX_CHARS: Final = 2_000


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    if attributes.get(names.CREWAI_CREW_ID) is not None:
        return Role.WORKFLOW
    if attributes.get(names.CREWAI_AGENT_ROLE) is not None:
        return Role.AGENT
    if attributes.get(names.CREWAI_TASK_ID) is not None:
        return Role.OTHER
    # OpenInference: a crew, or one of its tasks as done by an agent.
    if attributes.get(names.CREWAI_CREW_KEY) is not None and attributes.get(names.OI_NODE_ID) is None:
        return Role.WORKFLOW if span.name.endswith(".kickoff") else None
    return None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    if role is Role.WORKFLOW:
        found = _usage(attributes)
        name = word(attributes.get(names.CREWAI_CREW_NAME)) or word(span.name.removesuffix(".kickoff").removesuffix(".workflow"))
    elif role is Role.AGENT:
        found = {}
        name = word(attributes.get(names.CREWAI_AGENT_ROLE)) or word(attributes.get(names.OI_NODE_ID))
    else:
        return {}
    return found if name is None else found | {"agent": name}


def _usage(attributes: Attributes) -> Fields:
    """The crew's totals, as Python prints the object that holds them."""
    text = text_of(attributes.get(names.CREWAI_USAGE)) or ""
    found: Fields = {}
    for name, written in _COUNT.findall(text[:_MAX_CHARS]):
        number = count(written)
        if name in _USAGE and number is not None:
            found[_USAGE[name]] = number
    return found


CREWAI: Final = Dialect(
    name="crewai",
    markers=frozenset({names.CREWAI_CREW_ID, names.CREWAI_TASK_ID, names.CREWAI_AGENT_ROLE, names.CREWAI_CREW_KEY}),
    role=_role,
    fields=_fields,
)
