"""The records that travel between the layers: frozen, standard library only.

A span comes in as a `SpanRecord`; a dialect says what it means in a `Reading`; run assembly makes `Call`s of readings;
detection answers each with a `CallOutcome`; what is worth telling becomes an `Alert`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, Self

Attributes = Mapping[str, Any]


class Role(StrEnum):
    """What a span is in the life of an agent."""

    TOOL = "tool"
    MODEL = "model"
    AGENT = "agent"
    WORKFLOW = "workflow"
    OTHER = "other"

    is_call: bool
    """Whether the span is a row of `calls`."""
    is_task_root: bool
    """Whether the span can stand for a whole task."""

    def __init__(self, value: str) -> None:
        # Plain attributes and not properties: every span asks several times.
        self.is_call = value in {"tool", "model"}
        self.is_task_root = value in {"agent", "workflow"}


class EventFacts(Protocol):
    """The part of a span event that a dialect reads; the SDK's own events have it."""

    @property
    def name(self) -> str:
        """The event's name."""

    @property
    def attributes(self) -> Attributes | None:
        """The event's attributes."""


class SpanFacts(Protocol):
    """The part of a span that a dialect reads; `SpanRecord` has it, and so has the live view of an SDK span."""

    @property
    def name(self) -> str:
        """The span's name."""

    @property
    def scope(self) -> str:
        """The name of the instrumentation scope."""

    @property
    def attributes(self) -> Attributes:
        """The span's attributes as Python values."""

    @property
    def events(self) -> Sequence[EventFacts]:
        """The span's events."""

    @property
    def status(self) -> str:
        """`UNSET`, `OK` or `ERROR`."""

    @property
    def status_message(self) -> str:
        """The status description, or an empty string."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event on a span."""

    name: str
    time_ns: int
    attributes: Attributes
    dropped_attributes: int = 0
    """Attributes that its writer left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """A span as received, whatever brought it: ids in lower-case hex, times in nanoseconds since the epoch."""

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    kind: str
    start_ns: int
    end_ns: int
    status: str
    status_message: str
    service: str
    scope: str
    scope_version: str
    attributes: Attributes
    events: Sequence[SpanEvent]
    resource: Attributes
    links: Sequence[Mapping[str, Any]]
    trace_state: str = ""
    parent_is_remote: bool = False
    """The parent lives in another process, so that this span is the root as far as this process can tell."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What OTLP carries beyond the columns: flags, dropped counts, schema URLs, scope attributes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """A log record as received, whatever brought it: ids in lower-case hex or None, times in nanoseconds or 0."""

    trace_id: str | None
    span_id: str | None
    time_ns: int
    observed_ns: int
    event_name: str
    body: Any
    severity: int
    severity_text: str
    flags: int
    dropped_attributes: int
    attributes: Attributes
    service: str
    scope: str
    scope_version: str
    resource: Attributes
    extra: Mapping[str, Any]
    """What the records of a scope share beyond that: schema URLs, scope attributes."""


class LogPart(StrEnum):
    """What a span that was made of a log record is in its run."""

    CALL = "call"
    """A call, unless a span tells it: then it only adds to that one."""
    ANSWER = "answer"
    """What a model said in a call that another record tells."""
    TRACED = "traced"
    """It says that spans tell the model calls of this session."""
    NOTE = "note"
    """Kept, and no part of what is judged."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A tool call that a model asked for in its answer."""

    call_id: str | None
    tool: str
    arguments: Any
    signature: str | None = None
    """Of the arguments as they were, where they are not kept so."""


class Withheld(NamedTuple):
    """What was made of a tool call's content before that was left out."""

    error_class: ErrorClass | None
    effect: Effect | None
    is_mute: bool = False
    """It failed and had no words for it."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a span says, in one vocabulary, whatever names its writer used. None: it does not say."""

    # Without slots on purpose: what a span does not say stays a default of the class, see `of`.

    role: Role = Role.OTHER
    dialect: str = ""
    log: LogPart | None = None
    """What it is, where it is a log record and no span."""
    agent: str | None = None
    conversation_id: str | None = None

    tool: str | None = None
    call_id: str | None = None
    arguments: Any = None
    """JSON value, wrappers taken off; None when the writer did not record them."""
    result: Any = None
    """Text or JSON value; None when the writer did not record it."""

    is_error: bool = False
    error_type: str | None = None
    error_message: str | None = None

    model: str | None = None
    provider: str | None = None
    input_tokens: int | None = None
    """Cached tokens included."""
    output_tokens: int | None = None
    """Reasoning tokens included."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    """The part of `cache_write_tokens` that is kept for an hour, which costs more; None: not told."""
    reasoning_tokens: int | None = None
    service_tier: str | None = None
    """The speed at which the provider answered, where it takes another price for it (`flex`, `priority`)."""
    cost_usd: float | None = None
    finish_reason: str | None = None
    text: str | None = None
    """What the model said, as text."""
    reasoning: str | None = None
    requested: tuple[RequestedCall, ...] = ()

    run_id: str | None = None
    """Declared by the user: `loop.run.id`."""
    task: str | None = None
    """Declared by the user: `loop.task`."""
    task_type: str | None = None
    """Declared by the user: `loop.task.type`."""
    progress_declared: bool | None = None
    """Declared by the user: `loop.progress.declared`."""
    stop_declared: StopReason | None = None
    """Declared by the user or the guard: `loop.stop_reason.declared`."""
    flag_declared: StopReason | None = None
    """The first loop that a guard saw: `loop.flagged_reason.declared`."""
    withheld: Withheld | None = None
    """Only where content was not kept: stand-ins are all that is left of it."""

    @classmethod
    def of(cls, found: dict[str, Any]) -> Self:
        """Return the reading with these fields.

        A frozen dataclass sets each of its thirty fields by itself, 3 µs a span; this takes the few that were found.
        """
        reading = object.__new__(cls)
        reading.__dict__.update(found)
        return reading


@dataclass(frozen=True, slots=True)
class Told:
    """One tool call as another span tells it. None: it does not say."""

    call_id: str | None = None
    tool: str | None = None
    arguments: Any = None
    result: Any = None
    is_error: bool = False
    error_message: str | None = None
    made_here: bool = False
    """The span that tells it made the call itself, one of several; no other span stands for it."""
    signature: str | None = None
    """Of the arguments as they were, where they are not kept so; likewise the next two of the result."""
    evidence: ResultEvidence | None = None
    withheld: Withheld | None = None


NOTHING = Reading()
"""What a span says that is neither a call nor an agent and declares nothing."""


class Effect(StrEnum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    POLL = "poll"
    UNKNOWN = "unknown"


class ErrorClass(StrEnum):
    """Whether a failed call is worth repeating."""

    TRANSIENT = "transient"
    PERMANENT = "permanent"
    VALIDATION = "validation"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ResultEvidence:
    """What came back, reduced to what detection compares."""

    raw_hash: str
    """SHA-256 of the text as received."""
    fingerprint: str
    """SHA-256 of the text with volatile values masked."""
    sketch: frozenset[int]
    """Hashes of the distinct words near both ends of the text; the low byte of each is the word's length."""
    length: int
    """Characters as received."""


class Call(NamedTuple):
    """A model call or tool call of a run, ready for detection. (A tuple is made in half the time of a frozen dataclass.)"""

    trace_id: str
    span_id: str
    kind: Role
    agent: str
    """Counters are kept for each agent of a run; an empty string where no agent is named."""
    start_ns: int
    end_ns: int
    reading: Reading
    signature: str | None = None
    evidence: ResultEvidence | None = None
    """None: no result was recorded, or it was cut before we saw it."""
    error_class: ErrorClass | None = None
    effect: Effect | None = None
    attempts: int = 1
    """How often layers below the tool tried: its own HTTP client, a gateway."""
    cost_usd: float | None = None
    """What a model call cost, where that is known when it ends."""
    same_step: bool = False
    """A model call that belongs to the step that is going on; every other one begins a step."""

    @property
    def order(self) -> tuple[int, str]:
        """The logical order of a run, whatever the order of arrival."""
        return (self.end_ns, self.span_id)


class Pattern(StrEnum):
    """A way of going in circles."""

    HARD_LOOP = "hard_loop"
    SOFT_LOOP = "soft_loop"
    CYCLE = "cycle"
    RETRY_STORM = "retry_storm"
    SEMANTIC_LOOP = "semantic_loop"
    NO_PROGRESS = "no_progress"
    UNCERTAINTY = "uncertainty"
    LIMIT = "limit"
    SPEND_SPIKE = "spend_spike"


class Action(StrEnum):
    """What the guard answers."""

    CONTINUE = "continue"
    NUDGE = "nudge"
    COMPRESS = "compress"
    STOP = "stop"


class Mode(StrEnum):
    """How far the guard goes."""

    OBSERVE = "observe"
    """It tells what it sees; every answer is to continue."""
    NUDGE = "nudge"
    """It also has the model told; it never ends a run."""
    ENFORCE = "enforce"
    """It also ends runs, by an exception where nobody asks it."""


class StopReason(StrEnum):
    """Why a run ended."""

    COMPLETED = "completed"
    MAX_STEPS = "max_steps_reached"
    MAX_TOOL_CALLS = "max_tool_calls_reached"
    MAX_TOKENS = "max_tokens_reached"
    MAX_COST = "max_cost_reached"
    TIMEOUT = "timeout"
    REPEATED_SIGNATURE = "loop_detected:repeated_tool_signature"
    NEAR_REPEAT = "loop_detected:near_repeat"
    CYCLE = "loop_detected:cycle"
    RETRY_STORM = "loop_detected:retry_storm"
    NO_PROGRESS = "loop_detected:no_progress"
    SEMANTIC = "loop_detected:semantic"
    MODEL_LENGTH = "model_length"
    CONTENT_FILTER = "content_filter"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    HANDED_TO_HUMAN = "handed_to_human"
    ERROR = "error"
    ABANDONED = "abandoned"
    RUNNING = "running"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What detection says of a run at one call: the pattern, the advice, a sentence for a person, and the evidence."""

    pattern: Pattern
    action: Action
    stop_reason: StopReason | None
    """Why the run would be stopped; None where the pattern only advises."""
    severity: str
    """`warning` or `critical`."""
    message: str
    evidence: Mapping[str, Any]


class History(NamedTuple):
    """What the healthy runs of a task used: how many there were, and the 95th percentile of each measure, None if unknown."""

    runs: int
    steps: float | None
    tokens: float | None
    cost_usd: float | None


class CallOutcome(NamedTuple):
    """What one call meant for its run."""

    step: int
    progress: bool | None
    """False: the call was flat; None: not known, neither flat nor a reset."""
    repeats: int | None
    """How often this signature was seen since something changed; None without a signature."""
    flat_steps: int
    """The agent's streak of flat steps as known when the call ended."""
    verdicts: tuple[Verdict, ...] = ()
    """New with this call."""
    standing: Verdict | None = None
    """The gravest verdict that is open after this call, new or not."""
    resolved: tuple[Pattern, ...] = ()
    """Patterns that were open and are over with this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A verdict worth telling. `alert_id` is the same whoever saw it, so that it is told once."""

    alert_id: str
    run_id: str
    trace_id: str
    span_id: str
    at_ns: int
    task: str | None
    agent: str | None
    tool: str | None
    verdict: Verdict
    resolved_ns: int | None = None
    by_guard: bool = False
    """A stand-alone guard saw it, apart from the spans of the run."""
