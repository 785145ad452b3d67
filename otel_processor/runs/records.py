"""What goes into the ledger and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_processor.model import Alert, Call, CallOutcome, Pattern, Reading, ResultEvidence, SpanRecord, StopReason


@dataclass(frozen=True, slots=True)
class KeptEvidence:
    """What a tool call was compared by, from before its content was altered."""

    signature: str | None
    evidence: ResultEvidence | None
    is_told: bool = False
    """Another span brought it, and keeps it."""


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A span and what it says."""

    span: SpanRecord
    reading: Reading
    kept: KeptEvidence | None = None
    """Only where the span's content was cut or redacted after it was compared."""
    result_was_cut: bool = False
    """The result lost its end before it reached us."""
    others: tuple[ReadSpan, ...] = ()
    """Spans that tell the same model call."""
    content: str | None = None
    """What is not as it came: `redacted`, `off`; None: nothing but what was cut."""

    @property
    def order(self) -> tuple[int, str]:
        """The logical order of a run."""
        return (self.span.end_ns, self.span.span_id)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call with what it meant for its run."""

    call: Call
    outcome: CallOutcome
    declared_run_id: str | None
    """Where the user declared another run than the trace's."""
    was_altered: bool
    """Its content is not stored as it was: what it was compared by must be kept beside it."""
    content: str | None = None
    """As `ReadSpan` says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What was decided about a run so far."""

    run_id: str
    task: str | None
    task_type: str | None
    agent: str | None
    service: str
    conversation_id: str | None
    started_ns: int
    ended_ns: int | None
    last_ns: int
    stop_reason: StopReason
    flagged_reason: StopReason | None
    status: str
    """`running`, `ok`, `error` or `abandoned`."""
    policy_hash: str
    """Of the policy that it was judged by."""
    idle_reason: StopReason | None = None
    """Why it ended if no more of it comes; None once something closed it."""
    root_input_tokens: int | None = None
    """What the outermost agents say that they used, where no model call says it; likewise the next two."""
    root_output_tokens: int | None = None
    root_cost_usd: float | None = None
    is_guarded: bool = False
    """The guard of the service told how it ended: its agent made calls, whether their spans came or not."""


@dataclass(frozen=True, slots=True)
class TraceRun:
    """Which run a trace belongs to, and by which rule."""

    trace_id: str
    run_id: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """An alert that is over."""

    run_id: str
    pattern: Pattern
    at_ns: int


@dataclass(frozen=True, slots=True)
class NamedAgent:
    """Whose the calls of a trace are that were written without an agent."""

    trace_id: str
    agent: str
    first_end_ns: int
    """None of them ended before."""


@dataclass(slots=True)
class Delta:
    """What a batch of spans changes in the store."""

    calls: list[RecordedCall] = field(default_factory=list)
    runs: list[RunSummary] = field(default_factory=list)
    traces: list[TraceRun] = field(default_factory=list)
    alerts: list[Alert] = field(default_factory=list)
    resolutions: list[Resolution] = field(default_factory=list)
    named_agents: list[NamedAgent] = field(default_factory=list)
    retold: dict[tuple[str, str], int] = field(default_factory=dict)
    """(trace id, span id) → end of calls of which something else was said before; what holds now is among `calls`, if any."""
    stale_traces: set[str] = field(default_factory=set)
    """Their rows can only be right when made anew from all their spans."""
    stale_runs: set[str] = field(default_factory=set)
    """The runs that they are known to take part in."""
    joined_runs: set[str] = field(default_factory=set)
    """Runs that turned out to be one, or to begin earlier: all their traces, remembered or not, are stale."""


def without_traces(delta: Delta, trace_ids: set[str]) -> Delta:
    """Return the delta without what concerns these traces and the runs they belong to."""
    run_ids = {trace.run_id for trace in delta.traces if trace.trace_id in trace_ids} | delta.stale_runs
    run_ids |= {
        recorded.declared_run_id for recorded in delta.calls if recorded.call.trace_id in trace_ids and recorded.declared_run_id
    }
    return Delta(
        calls=[recorded for recorded in delta.calls if recorded.call.trace_id not in trace_ids],
        runs=[run for run in delta.runs if run.run_id not in run_ids],
        traces=[trace for trace in delta.traces if trace.trace_id not in trace_ids],
        alerts=[alert for alert in delta.alerts if alert.trace_id not in trace_ids],
        resolutions=[over for over in delta.resolutions if over.run_id not in run_ids],
        retold={key: end_ns for key, end_ns in delta.retold.items() if key[0] not in trace_ids},
        named_agents=[named for named in delta.named_agents if named.trace_id not in trace_ids],
    )
