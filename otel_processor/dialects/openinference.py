"""OpenInference, as written by its instrumentations and by its processors over the spans of others.

Source: Arize-ai/openinference `spec/` and `openinference.semconv.trace`.
"""

from __future__ import annotations

from typing import Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.finish import first_reason
from otel_processor.dialects.messages import read_flat_messages
from otel_processor.dialects.told import told_in_flat_messages
from otel_processor.dialects.values import decode_structure, first_content, first_word, word
from otel_processor.model import Attributes, Role, SpanFacts, Told

_ROLES: Final = {"TOOL": Role.TOOL, "LLM": Role.MODEL, "AGENT": Role.AGENT}

_KINDS: Final = (names.OI_KIND, names.GENAI_KIND, names.GENAI_KIND_NAME)
"""The key of OpenInference, and those of FutureAGI's traceAI and of LoongSuite, who write the rest as it does."""

_WHO: Final = {"agent": (names.OI_AGENT_NAME,), "conversation_id": (names.SESSION_ID,)}
_TOOL_WORDS: Final = {
    "tool": (names.OI_TOOL_NAME,),
    "call_id": (names.OI_TOOL_ID, names.OI_TOOL_CALL_ID, names.PHOENIX_TOOL_CALL_ID),
}
_MODEL_WORDS: Final = {
    "model": (names.OI_RESPONSE_MODEL, names.OI_MODEL, names.OI_REQUEST_MODEL),
    "provider": (names.OI_PROVIDER, names.OI_SYSTEM),
}
# The node of a graph is the agent's on an agent's own span only: on others it is the tool or the model.
_ROOT_WORDS: Final = _MODEL_WORDS | _WHO | {"agent": (names.OI_AGENT_NAME, names.OI_NODE_NAME)}
_COUNTS: Final = {
    # The prompt count includes cached tokens, the completion count reasoning.
    "input_tokens": (names.OI_INPUT_TOKENS,),
    "output_tokens": (names.OI_OUTPUT_TOKENS,),
    "cache_read_tokens": (names.OI_CACHE_READ_TOKENS, names.OI_CACHE_INPUT_TOKENS),
    "cache_write_tokens": (names.OI_CACHE_WRITE_TOKENS,),
    "reasoning_tokens": (names.OI_REASONING_TOKENS,),
}
_COST: Final = {"cost_usd": (names.OI_COST,)}
_ROOT: Final = Table.of(words=_ROOT_WORDS, counts=_COUNTS, amounts=_COST)
_TABLES: Final = {
    Role.TOOL: Table.of(words=_WHO | _TOOL_WORDS),
    Role.MODEL: Table.of(words=_MODEL_WORDS | _WHO, counts=_COUNTS, amounts=_COST),
    Role.AGENT: _ROOT,
    Role.WORKFLOW: _ROOT,
    Role.OTHER: Table.of(words=_WHO),
}

_METADATA_AGENT: Final = "lc_agent_name"
_METADATA_NODE: Final = "langgraph_node"
_METADATA_CONVERSATION: Final = ("session_id", "conversation_id", "thread_id")


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    kind = first_word(attributes, _KINDS)
    if kind is None:
        return None
    if kind.upper() == "CHAIN" and _is_agent(attributes.get(names.OI_METADATA)):
        return Role.AGENT
    return _ROLES.get(kind.upper(), Role.OTHER)


def _is_agent(metadata: Any) -> bool:
    """LangChain's agents are chains: all that runs inside one carries its name, and inside its graph also the node."""
    return isinstance(metadata, str) and f'"{_METADATA_AGENT}"' in metadata and f'"{_METADATA_NODE}"' not in metadata


def _guess(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    if attributes.get(names.OI_MODEL) is not None and attributes.get(names.OI_INPUT_TOKENS) is not None:
        return Role.MODEL
    return None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLES[role].read(attributes)
    if role is Role.TOOL:
        _add_content(found, attributes)
        if "tool" not in found and first_word(attributes, _KINDS) is not None:
            found["tool"] = span.name.removesuffix(".__call__").removesuffix(".run")
    elif role is Role.MODEL:
        _add_answer(found, attributes)
    if "agent" not in found or "conversation_id" not in found:
        _add_from_metadata(found, attributes)
    return found


def _add_content(found: Fields, attributes: Attributes) -> None:
    # The key `tool.parameters` is the schema for some writers and the arguments for others; the input is always the input.
    arguments = first_content(attributes, (names.OI_INPUT,))
    result = first_content(attributes, (names.OI_OUTPUT,))
    if arguments is not None:
        found["arguments"] = arguments
    if result is not None:
        found["result"] = result


def _add_answer(found: Fields, attributes: Attributes) -> None:
    reason = first_reason(attributes.get(names.OI_FINISH_REASON))
    if reason is not None:
        found["finish_reason"] = reason
    said = read_flat_messages(attributes, names.OI_OUTPUT_MESSAGES_PREFIX).fields()
    if not said and (text := _plain_output(attributes)) is not None:
        said = {"text": text}
    for name, value in said.items():
        found.setdefault(name, value)


def _plain_output(attributes: Attributes) -> str | None:
    if first_word(attributes, (names.OI_OUTPUT_MIME_TYPE,)) == "application/json":
        return None
    return word(first_content(attributes, (names.OI_OUTPUT,)))


def _add_from_metadata(found: Fields, attributes: Attributes) -> None:
    """LangChain's own names for the agent and the conversation travel in a JSON attribute."""
    text = attributes.get(names.OI_METADATA)
    if not isinstance(text, str) or not ("_id" in text or _METADATA_AGENT in text):
        return
    metadata = decode_structure(text)
    if not isinstance(metadata, dict):
        return
    agent = word(metadata.get(_METADATA_AGENT))
    conversation = first_word(metadata, _METADATA_CONVERSATION)
    if agent is not None:
        found.setdefault("agent", agent)
    if conversation is not None:
        found.setdefault("conversation_id", conversation)


def _told(span: SpanFacts) -> tuple[Told, ...]:
    return told_in_flat_messages(span.attributes, names.OI_INPUT_MESSAGES_PREFIX) if _role(span) is Role.MODEL else ()


OPENINFERENCE: Final = Dialect(
    name="openinference",
    markers=frozenset({*_KINDS, names.OI_MODEL, names.OI_INPUT_TOKENS}),
    role=_role,
    guess=_guess,
    fields=_fields,
    told=_told,
)
