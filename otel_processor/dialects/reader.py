"""Read a span: find out who wrote it, ask them, and put their answers together.

Every dialect whose markers are on the span is asked, in the order of `DIALECTS`: the first with an explicit kind decides
the role; each field comes from the first that has it.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Any, Final

from otel_processor.dialects import names
from otel_processor.dialects.adk import ADK
from otel_processor.dialects.agentops import AGENTOPS
from otel_processor.dialects.autogen import AUTOGEN
from otel_processor.dialects.braintrust import BRAINTRUST
from otel_processor.dialects.claude_code import CLAUDE_CODE
from otel_processor.dialects.codex import CODEX
from otel_processor.dialects.crewai import CREWAI
from otel_processor.dialects.failures import find_failure
from otel_processor.dialects.finish import STOP, TOOL_CALLS, first_reason
from otel_processor.dialects.gemini_cli import GEMINI_CLI
from otel_processor.dialects.genai import GENAI
from otel_processor.dialects.genkit import GENKIT
from otel_processor.dialects.haystack import HAYSTACK
from otel_processor.dialects.laminar import LAMINAR
from otel_processor.dialects.langfuse import LANGFUSE
from otel_processor.dialects.langsmith import LANGSMITH
from otel_processor.dialects.langwatch import LANGWATCH
from otel_processor.dialects.livekit import LIVEKIT
from otel_processor.dialects.log_records import WRITERS
from otel_processor.dialects.logfire import LOGFIRE
from otel_processor.dialects.mastra import MASTRA
from otel_processor.dialects.mlflow import MLFLOW
from otel_processor.dialects.openai_agents import OPENAI_AGENTS
from otel_processor.dialects.openinference import OPENINFERENCE
from otel_processor.dialects.openlit import OPENLIT
from otel_processor.dialects.pydantic_ai import PYDANTIC_AI
from otel_processor.dialects.registry import Index, Present, external_dialects
from otel_processor.dialects.spring_ai import SPRING_AI
from otel_processor.dialects.stops import declared_flag, declared_stop
from otel_processor.dialects.traceloop import TRACELOOP
from otel_processor.dialects.values import decode, decode_structure, flag, word
from otel_processor.dialects.vercel import VERCEL
from otel_processor.dialects.voltagent import VOLTAGENT
from otel_processor.dialects.wrappers import NOTHING_INSIDE, Unwrapped, unwrap_arguments, unwrap_result
from otel_processor.model import NOTHING, Attributes, Reading, Role, SpanFacts

if TYPE_CHECKING:
    from otel_processor.dialects.dialect import Dialect, Fields
    from otel_processor.model import Told

DIALECTS: Final[tuple[Dialect, ...]] = (
    # Log records, which have markers of their own.
    *(writer.dialect() for writer in WRITERS),
    # What these say goes before the conventions that some of them write as well: `chat` on a prompt template, or on none.
    VERCEL,
    LANGSMITH,
    LANGFUSE,
    MLFLOW,
    LANGWATCH,
    BRAINTRUST,
    GENKIT,
    MASTRA,
    SPRING_AI,
    AGENTOPS,
    LIVEKIT,
    # Shares `span.type` with Claude Code, and is found by other keys.
    VOLTAGENT,
    CLAUDE_CODE,
    CODEX,
    GEMINI_CLI,
    ADK,
    HAYSTACK,
    CREWAI,
    OPENAI_AGENTS,
    LOGFIRE,
    PYDANTIC_AI,
    AUTOGEN,
    # The conventions with counts of its own.
    OPENLIT,
    GENAI,
    # Its type is put on spans of others, for which the conventions say it more exactly.
    LAMINAR,
    TRACELOOP,
    OPENINFERENCE,
)
"""Best first. What frameworks wrote themselves goes before what was added over their spans."""

_ANSWER: Final = frozenset({"text", "reasoning", "requested"})
"""Read from one writer's messages only: another may tell the reasoning as text, and it would then count twice."""

_NAMES_AND_IDS: Final = ("tool", "agent", "call_id", "conversation_id", "run_id", "task", "task_type", "model", "provider")
_LONGEST_NAME: Final = 512

_DECLARED: Final = 1
_DECLARATIONS: Final = (
    names.LOOP_RUN_ID,
    names.LOOP_TASK,
    names.LOOP_TASK_TYPE,
    names.LOOP_PROGRESS_DECLARED,
    names.LOOP_STOP_REASON_DECLARED,
    names.LOOP_FLAGGED_REASON_DECLARED,
)

_index: Index | None = None
_index_lock: Final = threading.Lock()


def _load_index() -> Index:
    """Index all dialects, once: with the first span, so that importing this package imports no other."""
    global _index
    with _index_lock:
        if _index is None:
            _index = Index.of((*external_dialects(), *DIALECTS), _DECLARATIONS)
        return _index


def read_span(span: SpanFacts) -> Reading:
    """What a span says, whoever wrote it; never raises, whatever the attributes hold."""
    attributes = span.attributes
    index = _index or _load_index()
    bits = index.scopes.get(span.scope, 0)
    for key in index.marker_keys.intersection(attributes):
        bits |= index.markers[key]
    if not bits:
        return NOTHING
    found = _declared(attributes) if bits & _DECLARED else {}
    present = index.present(bits)
    if present.dialects and not _is_shadow(span):
        found |= _read(span, present)
    return Reading.of(_with_short_names(found)) if found else NOTHING


def _with_short_names(found: Fields) -> Fields:
    """Cut names and ids that are kept with every call; the hash of the whole keeps two long ones apart."""
    for field in _NAMES_AND_IDS:
        name = found.get(field)
        if name is not None and len(name) > _LONGEST_NAME:
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            found[field] = f"{name[: _LONGEST_NAME - 20]}...{digest}"
    return found


def told_by(span: SpanFacts) -> tuple[Told, ...]:
    """What a span says about tool calls that other spans stand for; never raises, whatever the attributes hold."""
    index = _index or _load_index()
    bits = index.scopes.get(span.scope, 0)
    for key in index.marker_keys.intersection(span.attributes):
        bits |= index.markers[key]
    return next((told for dialect in index.present(bits).dialects if (told := dialect.told(span))), ())


def _declared(attributes: Attributes) -> Fields:
    """What the user said about the run; our own other tags are never read as evidence."""
    declared = {
        "run_id": word(attributes.get(names.LOOP_RUN_ID)),
        "task": word(attributes.get(names.LOOP_TASK)),
        "task_type": word(attributes.get(names.LOOP_TASK_TYPE)),
        "progress_declared": flag(attributes.get(names.LOOP_PROGRESS_DECLARED)),
        "stop_declared": declared_stop(attributes.get(names.LOOP_STOP_REASON_DECLARED)),
        "flag_declared": declared_flag(attributes.get(names.LOOP_FLAGGED_REASON_DECLARED)),
    }
    return {name: value for name, value in declared.items() if value is not None}


def _is_shadow(span: SpanFacts) -> bool:
    """Spans that tell again what others tell: parallel calls merged by ADK, MCP's messages, Logfire's early copies."""
    name = span.name
    return (
        "(merged tools)" in name or name.startswith("MCP send ") or span.attributes.get(names.LOGFIRE_SPAN_TYPE) == "pending_span"
    )


def _read(span: SpanFacts, present: Present) -> Fields:
    role, winner = _role(span, present.dialects)
    first, *others = present.dialects
    found = first.fields(span, role)
    for dialect in others:
        _fill(found, dialect.fields(span, role))
    if role is Role.OTHER:
        return found
    found["role"] = role
    found["dialect"] = winner.name
    failed = found.pop("is_error", False) is True
    result = _finish_call(found, role)
    if role.is_task_root and "agent" not in found:
        found["agent"] = _name_of_root(span.name)
    failure = find_failure(span, present.failure_keys, found.get("result"), result_failed=failed or result.is_error)
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


def _finish_call(found: Fields, role: Role) -> Unwrapped:
    """Decode and normalise what the dialects left as written; gives what the result's wrapper told."""
    if role is Role.TOOL:
        return _finish_tool(found)
    _finish_model(found)
    return NOTHING_INSIDE


def _finish_tool(found: Fields) -> Unwrapped:
    arguments = _unwrapped_arguments(found.pop("arguments", None), found.get("tool"))
    raw = found.pop("result", None)
    result = NOTHING_INSIDE if raw is None else unwrap_result(decode_structure(raw))
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
        return NOTHING_INSIDE
    value = decode(raw)
    if isinstance(value, str):
        # Some writers encode what was JSON already.
        value = decode_structure(value)
    return unwrap_arguments({} if value is None else value, tool)


def _finish_model(found: Fields) -> None:
    _include_cached(found)
    _include_reasoning(found)
    reason = first_reason(found.pop("finish_reason", None))
    asked = bool(found.get("requested"))
    if reason is None and not asked:
        return
    # Some writers say nothing, or that every turn stopped; one that asked for tools did so for them.
    found["finish_reason"] = TOOL_CALLS if asked and reason in {None, STOP} else reason


def _include_cached(found: Fields) -> None:
    """Input can only be smaller than its cached part when the writer counts them apart, as Anthropic and Bedrock do."""
    tokens = found.get("input_tokens")
    cached = (found.get("cache_read_tokens") or 0) + (found.get("cache_write_tokens") or 0)
    if tokens is not None and cached > tokens:
        found["input_tokens"] = tokens + cached


def _include_reasoning(found: Fields) -> None:
    """Output can only be smaller than its reasoning when the writer counts that apart, as Gemini does."""
    tokens, reasoning = found.get("output_tokens"), found.get("reasoning_tokens")
    if tokens is not None and reasoning is not None and reasoning > tokens:
        found["output_tokens"] = tokens + reasoning


def _name_of_root(name: str) -> str:
    for prefix in ("invoke_agent ", "invoke_workflow "):
        name = name.removeprefix(prefix)
    for suffix in (".workflow", ".agent", ".run"):
        name = name.removesuffix(suffix)
    return name
