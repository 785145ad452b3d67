"""Read a span: find out who wrote it, ask them, and put their answers together.

Every dialect whose markers are on the span is asked, in the order of `DIALECTS`: the first with an explicit kind decides
the role; each field comes from the first that has it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.failures import find_failure
from otel_processor.dialects.finish import STOP, TOOL_CALLS, first_reason
from otel_processor.dialects.genai import GENAI
from otel_processor.dialects.openinference import OPENINFERENCE
from otel_processor.dialects.traceloop import TRACELOOP
from otel_processor.dialects.values import decode, decode_structure, flag, word
from otel_processor.dialects.wrappers import Unwrapped, unwrap_arguments, unwrap_result
from otel_processor.model import NOTHING, Attributes, Reading, Role, SpanFacts

if TYPE_CHECKING:
    from otel_processor.dialects.dialect import Dialect, Fields

DIALECTS: Final[tuple[Dialect, ...]] = (
    GENAI,
    TRACELOOP,
    OPENINFERENCE,
)
"""Best first. What frameworks wrote themselves goes before what was added over their spans."""

_ANSWER: Final = frozenset({"text", "reasoning", "requested"})
"""Read from one writer's messages only: another may tell the reasoning as text, and it would then count twice."""

_DECLARED: Final = 1
_DECLARATIONS: Final = (names.LOOP_RUN_ID, names.LOOP_TASK, names.LOOP_TASK_TYPE, names.LOOP_PROGRESS_DECLARED)


def _bits(marks: str) -> dict[str, int]:
    """Marker → one bit for each dialect that it speaks for."""
    bits: dict[str, int] = {}
    for number, dialect in enumerate(DIALECTS, 1):
        for mark in getattr(dialect, marks):
            bits[mark] = bits.get(mark, 0) | 1 << number
    return bits


_SCOPES: Final = _bits("scopes")
_MARKERS: Final = _bits("markers") | dict.fromkeys(_DECLARATIONS, _DECLARED)
_MARKER_KEYS: Final = frozenset(_MARKERS)


@lru_cache(maxsize=1024)
def _dialects(bits: int) -> tuple[Dialect, ...]:
    return tuple(dialect for number, dialect in enumerate(DIALECTS, 1) if bits >> number & 1)


def read_span(span: SpanFacts) -> Reading:
    """What a span says, whoever wrote it; never raises, whatever the attributes hold."""
    attributes = span.attributes
    bits = _SCOPES.get(span.scope, 0)
    for key in _MARKER_KEYS.intersection(attributes):
        bits |= _MARKERS[key]
    if not bits:
        return NOTHING
    found = _declared(attributes) if bits & _DECLARED else {}
    present = _dialects(bits)
    if present and not _is_shadow(span):
        found |= _read(span, present)
    return Reading.of(found) if found else NOTHING


def _declared(attributes: Attributes) -> Fields:
    """What the user said about the run; our own other tags are never read as evidence."""
    declared = {
        "run_id": word(attributes.get(names.LOOP_RUN_ID)),
        "task": word(attributes.get(names.LOOP_TASK)),
        "task_type": word(attributes.get(names.LOOP_TASK_TYPE)),
        "progress_declared": flag(attributes.get(names.LOOP_PROGRESS_DECLARED)),
    }
    return {name: value for name, value in declared.items() if value is not None}


def _is_shadow(span: SpanFacts) -> bool:
    """Spans that tell again what others tell: parallel calls merged by ADK, MCP's messages, Logfire's early copies."""
    name = span.name
    return (
        "(merged tools)" in name or name.startswith("MCP send ") or span.attributes.get(names.LOGFIRE_SPAN_TYPE) == "pending_span"
    )


def _read(span: SpanFacts, present: tuple[Dialect, ...]) -> Fields:
    role, winner = _role(span, present)
    found = winner.fields(span, role)
    for dialect in present:
        if dialect is not winner:
            _fill(found, dialect.fields(span, role))
    if role is Role.OTHER:
        return found
    found["role"] = role
    found["dialect"] = winner.name
    result = _finish_call(found, role)
    if role.is_task_root and "agent" not in found:
        found["agent"] = _name_of_root(span.name)
    failure = find_failure(span, _state_keys(present), found.get("result"), result_failed=result.is_error)
    if failure is not None:
        found |= {"is_error": True, "error_type": failure.type, "error_message": failure.message}
    return found


def _role(span: SpanFacts, present: tuple[Dialect, ...]) -> tuple[Role, Dialect]:
    for dialect in present:
        role = dialect.role(span)
        if role is not None:
            return role, dialect
    for dialect in present:
        role = dialect.guess(span)
        if role is not None:
            return role, dialect
    return Role.OTHER, present[0]


def _fill(found: Fields, more: Fields) -> None:
    answered = not _ANSWER.isdisjoint(found)
    for name, value in more.items():
        if answered and name in _ANSWER:
            continue
        if name not in found or found[name] == "":
            found[name] = value


@lru_cache(maxsize=1024)
def _state_keys(present: tuple[Dialect, ...]) -> tuple[str, ...]:
    return tuple(key for dialect in present for key in dialect.state_keys)


def _finish_call(found: Fields, role: Role) -> Unwrapped:
    """Decode and normalise what the dialects left as written; gives what the result's wrapper told."""
    if role is Role.TOOL:
        return _finish_tool(found)
    _finish_model(found)
    return Unwrapped(None)


def _finish_tool(found: Fields) -> Unwrapped:
    arguments = _unwrapped_arguments(found.pop("arguments", None), found.get("tool"))
    raw = found.pop("result", None)
    result = unwrap_result(decode_structure(raw))
    if arguments.value is not None:
        found["arguments"] = arguments.value
    if raw is not None:
        # A JSON null is an answer all the same.
        found["result"] = "null" if result.value is None else result.value
    call_id = arguments.call_id or result.call_id
    if call_id is not None:
        found.setdefault("call_id", call_id)
    return result


def _unwrapped_arguments(raw: Any, tool: str | None) -> Unwrapped:
    if raw is None or raw == "":
        return Unwrapped(None)
    value = decode(raw)
    if isinstance(value, str):
        # Some writers encode what was JSON already.
        value = decode_structure(value)
    return unwrap_arguments({} if value is None else value, tool)


def _finish_model(found: Fields) -> None:
    _include_cached(found)
    reason = first_reason(found.pop("finish_reason", None))
    if reason is None:
        return
    # Some writers say that every turn stopped; one that asked for tools did not.
    found["finish_reason"] = TOOL_CALLS if reason == STOP and found.get("requested") else reason


def _include_cached(found: Fields) -> None:
    """Input can only be smaller than its cached part when the writer counts them apart, as Anthropic and Bedrock do."""
    tokens = found.get("input_tokens")
    cached = found.get("cache_read_tokens", 0) + found.get("cache_write_tokens", 0)
    if tokens is not None and cached > tokens:
        found["input_tokens"] = tokens + cached


def _name_of_root(name: str) -> str:
    for prefix in ("invoke_agent ", "invoke_workflow "):
        name = name.removeprefix(prefix)
    for suffix in (".workflow", ".agent", ".run"):
        name = name.removesuffix(suffix)
    return name
