"""Claude Code, and the Claude Agent SDK, which runs it: the command line's own traces (beta).

Source: code.claude.com `docs/en/monitoring-usage`, traces. How a tool ended is told by a child of its span, see `told_by`.
"""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.dialects.dialect import Dialect, Fields, Table
from otel_processor.dialects.values import first_content, first_word, flag, word
from otel_processor.model import Attributes, Role, SpanFacts, Told

_PREFIX: Final = "claude_code."
_EXECUTION: Final = "claude_code.tool.execution"
_ROLES: Final = {"interaction": Role.AGENT, "llm_request": Role.MODEL, "tool": Role.TOOL}

_WHO: Final = {"agent": (names.CLAUDE_AGENT_ID,), "conversation_id": (names.SESSION_ID,)}
_CALL: Final = Table.of(words=_WHO)
_TABLES: Final = {
    Role.TOOL: Table.of(
        words=_WHO | {"tool": (names.PLAIN_TOOL_NAME,), "call_id": (names.CLAUDE_TOOL_USE_ID, names.TOOL_CALL_ID)}
    ),
    Role.MODEL: Table.of(
        words=_WHO | {"model": (names.PLAIN_MODEL,), "provider": (names.SYSTEM,), "finish_reason": (names.CLAUDE_STOP_REASON,)},
        counts={
            "input_tokens": (names.CLAUDE_INPUT_TOKENS,),
            "output_tokens": (names.CLAUDE_OUTPUT_TOKENS,),
            "cache_read_tokens": (names.CLAUDE_CACHE_READ_TOKENS,),
            "cache_write_tokens": (names.CLAUDE_CACHE_WRITE_TOKENS,),
        },
    ),
}

_OUTPUT_KEYS: Final = (names.EVENT_CONTENT, "output")

_IDENTIFIED_BY: Final = {
    "Read": (names.CLAUDE_FILE_PATH,),
    "Bash": (names.CLAUDE_COMMAND,),
}
"""Tools whose one recorded argument says what the call does.

An edit is not known by its file's path alone: two of them are not the same call, and have no arguments here.
"""


def _role(span: SpanFacts) -> Role | None:
    if not span.name.startswith(_PREFIX):
        return None
    return _ROLES.get(word(span.attributes.get(names.CLAUDE_SPAN_TYPE)) or span.name.removeprefix(_PREFIX), Role.OTHER)


def _fields(span: SpanFacts, role: Role) -> Fields:
    if not span.name.startswith(_PREFIX):
        return {}
    attributes = span.attributes
    found = _TABLES.get(role, _CALL).read(attributes)
    if role is Role.TOOL:
        _add_content(found, span, attributes)
    elif role is Role.MODEL:
        _include_cached(found)
    elif role is Role.AGENT:
        found.setdefault("agent", "claude-code")
    if role is not Role.OTHER and flag(attributes.get(names.PLAIN_SUCCESS)) is False:
        found["is_error"] = True
    return found


def _include_cached(found: Fields) -> None:
    """Anthropic counts tokens that were read from a cache, or written to it, beside the input."""
    if "input_tokens" in found:
        found["input_tokens"] += found.get("cache_read_tokens", 0) + found.get("cache_write_tokens", 0)


def _add_content(found: Fields, span: SpanFacts, attributes: Attributes) -> None:
    arguments = {}
    for key in _IDENTIFIED_BY.get(found.get("tool", ""), ()):
        value = first_content(attributes, (key,))
        if value is not None:
            arguments["command" if key == names.CLAUDE_COMMAND else key] = value
    if arguments:
        found["arguments"] = arguments
    for event in reversed(span.events):
        if event.name == names.CLAUDE_OUTPUT_EVENT:
            result = first_content(event.attributes or {}, _OUTPUT_KEYS)
            if result is not None:
                found["result"] = result
            return


def _told(span: SpanFacts) -> tuple[Told, ...]:
    """A failure of the tool whose span surrounds this one."""
    attributes = span.attributes
    if span.name != _EXECUTION:
        return ()
    failed = flag(attributes.get(names.PLAIN_SUCCESS)) is False or span.status == "ERROR"
    call_id = first_word(attributes, (names.CLAUDE_TOOL_USE_ID, names.TOOL_CALL_ID))
    if not failed or call_id is None:
        return ()
    return (Told(call_id, is_error=True, error_message=word(attributes.get(names.ERROR)) or word(span.status_message)),)


CLAUDE_CODE: Final = Dialect(
    name="claude_code",
    markers=frozenset({names.CLAUDE_SPAN_TYPE}),
    scopes=frozenset({names.CLAUDE_CODE_SCOPE}),
    role=_role,
    fields=_fields,
    told=_told,
)
