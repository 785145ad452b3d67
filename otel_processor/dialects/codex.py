"""Codex CLI: a few of its thousand spans say what the agent does, and none of them what was asked or answered.

Source: openai/codex `codex-rs/core/src/session/turn.rs`, `tools/parallel.rs`, `tasks/mod.rs`, `codex-rs/otel`. How a tool
ended is told by an event on a child of its span, see `told_by`.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.values import flag, word
from otel_processor.model import Role, SpanFacts, Told

_CONVERSATION: Final = {"conversation_id": (names.CODEX_CONVERSATION_ID,)}
_TABLES: Final = {
    Role.TOOL: Table.of(words=_CONVERSATION | {"tool": (names.PLAIN_TOOL_NAME,), "call_id": (names.PLAIN_CALL_ID,)}),
    # What the model is asked is named on the spans above.
    Role.MODEL: Table.of(words=_CONVERSATION, counts={"reasoning_tokens": (names.CODEX_REASONING_TOKENS,)}),
    Role.AGENT: Table.of(
        words=_CONVERSATION | {"model": (names.PLAIN_MODEL,)},
        counts={
            # The sum over the turn's requests. Cached tokens are part of the input, reasoning of the output.
            "input_tokens": (names.CODEX_TURN_INPUT_TOKENS,),
            "output_tokens": (names.CODEX_TURN_OUTPUT_TOKENS,),
            "cache_read_tokens": (names.CODEX_TURN_CACHED_TOKENS,),
            "cache_write_tokens": (names.CODEX_TURN_CACHE_WRITE_TOKENS,),
            "reasoning_tokens": (names.CODEX_TURN_REASONING_TOKENS,),
        },
    ),
}
_OTHER: Final = Table.of(words=_CONVERSATION)


def _role(span: SpanFacts) -> Role | None:
    attributes = span.attributes
    phase = attributes.get(names.CODEX_TOOL_PHASE)
    if phase is not None:
        return Role.TOOL if phase == "dispatch" else Role.OTHER
    if attributes.get(names.CODEX_TURN_TOTAL_TOKENS) is not None:
        return Role.AGENT
    # Of the many spans that handle a response, the one that was told what it cost.
    return Role.MODEL if attributes.get(names.CODEX_TOTAL_TOKENS) is not None else None


def _fields(span: SpanFacts, role: Role) -> Fields:
    attributes = span.attributes
    found = _TABLES.get(role, _OTHER).read(attributes)
    if role is Role.TOOL:
        found.setdefault("tool", span.name)
    elif role is Role.AGENT:
        found["agent"] = "codex"
        thread = word(attributes.get(names.CODEX_THREAD_ID))
        if thread is not None and not thread.isdigit():
            # Elsewhere the same key is the number of the operating system's thread.
            found.setdefault("conversation_id", thread)
    return found


def _told(span: SpanFacts) -> tuple[Told, ...]:
    """Whether the call whose span surrounds this one went well."""
    told = []
    for event in span.events:
        facts = event.attributes or {}
        if facts.get(names.EVENT_NAME) == names.CODEX_RESULT_EVENT and flag(facts.get(names.PLAIN_SUCCESS)) is False:
            told.append(Told(word(facts.get(names.PLAIN_CALL_ID)), word(facts.get(names.PLAIN_TOOL_NAME)), is_error=True))
    return tuple(told)


CODEX: Final = Dialect(
    name="codex",
    markers=frozenset({names.CODEX_TOOL_PHASE, names.CODEX_TOTAL_TOKENS, names.CODEX_TURN_TOTAL_TOKENS}),
    # The scope is named after the program. Only the outcome of tools needs it: their spans carry no marker.
    scopes=frozenset({"codex_exec", "codex_cli_rs", "codex_vscode", "codex-app-server", "codex_mcp_server"}),
    role=_role,
    fields=_fields,
    told=_told,
    state_keys=(names.CODEX_ABORTED,),
)
