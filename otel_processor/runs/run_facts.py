"""What is known of a run as a whole, gathered span by span."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_processor.dialects.stops import stop_by_failure
from otel_processor.model import Reading, SpanRecord, StopReason
from otel_processor.runs.ending import Ending, Order, Seen, status_of
from otel_processor.runs.records import RunSummary
from otel_processor.runs.trace_tree import Node
from otel_processor.runs.tracker import RunTracker

GUARD_SERVICE = "otel_processor.guard"
"""Whose the span is by which the guard of the service tells how a run ended."""

STOP = "otel_processor.stop"
"""Name under which a span's `extra` keeps what its failure means for its run, where the words of that are not kept."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The part of a span that says something about its run."""

    node: Node
    name: str
    service: str
    start_ns: int
    end_ns: int
    failed: bool
    is_root: bool
    """It has no parent, or one in another process."""
    reading: Reading
    stop: StopReason | None = None
    """What its failure means for the run, if that ends with it."""

    @property
    def order(self) -> Order:
        """The logical order of a run."""
        return (self.end_ns, self.node.span_id)

    @classmethod
    def of(cls, span: SpanRecord, reading: Reading, node: Node) -> Glimpse:
        """Return what the span says about its run."""
        is_root = span.parent_span_id is None or span.parent_is_remote
        stop = StopReason(span.extra[STOP]) if STOP in span.extra else stop_by_failure(span)
        return cls(node, span.name, span.service, span.start_ns, span.end_ns, span.status == "ERROR", is_root, reading, stop)


@dataclass(slots=True)
class RunFacts:
    """Gathers what the spans of a run say about it, the same in whatever order they come; owned by the ledger."""

    started_ns: int = 0
    last_ns: int = 0
    ending: Ending = field(default_factory=Ending)
    _told: dict[str, tuple[tuple[int, int, str], str]] = field(default_factory=dict)
    """What only one span can tell: fact → (precedence of the span, what it says)."""

    def add(self, seen: Glimpse) -> None:
        """Take in what one span of the run says."""
        reading, (end_ns, span_id) = seen.reading, seen.order
        self.started_ns = min(self.started_ns, seen.start_ns) if self.started_ns else seen.start_ns
        self.last_ns = max(self.last_ns, end_ns)
        # The first to end tells it, where several do.
        first = (end_ns, 0, span_id)
        self._tell("service", seen.service, first)
        self._tell("guard", seen.service if seen.service == GUARD_SERVICE else None, first)
        self._tell("conversation_id", reading.conversation_id, first)
        self._tell("task", reading.task, first)
        self._tell("task_type", reading.task_type, first)
        self._tell("flag", reading.flag_declared, first)
        self._tell("any_agent", reading.agent, first)
        if reading.role.is_task_root:
            # The outermost agent names the task; it begins first and ends last.
            self._tell("outer_agent", reading.agent, (seen.start_ns, -end_ns, span_id))
        self.ending.add(Seen(reading, seen.start_ns, seen.order, seen.is_root, seen.failed, seen.stop))
        declares_run = reading.role.is_task_root and reading.run_id is not None
        if (seen.is_root and not reading.role.is_call) or declares_run:
            self._tell("root_name", seen.name, (-end_ns, seen.start_ns, span_id))

    def _tell(self, fact: str, value: str | None, precedence: tuple[int, int, str]) -> None:
        if value:
            known = self._told.get(fact)
            if known is None or precedence < known[0]:
                self._told[fact] = (precedence, value)

    def told(self, fact: str) -> str | None:
        """Return what the span that knows best says, or None."""
        known = self._told.get(fact)
        return known[1] if known is not None else None

    @property
    def has_agent(self) -> bool:
        """Whether an agent or workflow was seen."""
        return "outer_agent" in self._told

    @property
    def task(self) -> str | None:
        """What the run is for: declared, else the outermost agent or workflow, else the root span's name."""
        return self.told("task") or self.told("outer_agent") or self.told("any_agent") or self.told("root_name")

    def _told_flag(self) -> StopReason | None:
        told = self.told("flag")
        return StopReason(told) if told is not None else None

    def summary(self, tracker: RunTracker, policy_hash: str) -> RunSummary:
        """Return what is decided so far."""
        ended = self.ending.closed_ns
        reason = self.ending.reason()
        return RunSummary(
            run_id=tracker.run_id,
            task=self.task,
            task_type=self.told("task_type"),
            agent=self.told("outer_agent") or self.told("any_agent"),
            service=self.told("service") or "",
            conversation_id=self.told("conversation_id"),
            started_ns=self.started_ns,
            ended_ns=None if ended is None else max(ended, self.last_ns),
            last_ns=self.last_ns,
            stop_reason=reason,
            flagged_reason=tracker.flagged_reason or self._told_flag() or _loop_that_ended_it(reason),
            status=status_of(reason, failed=ended is not None and self.ending.failed),
            policy_hash=policy_hash,
            idle_reason=self.ending.reason_when_idle() if ended is None else None,
            is_guarded=self.told("guard") is not None,
        )


def _loop_that_ended_it(reason: StopReason) -> StopReason | None:
    # A guard that is asked keeps calls from being made: the spans alone may show no loop.
    return reason if reason.startswith("loop_detected:") else None


def may_be_a_run(reading: Reading) -> bool:
    """Return whether a span alone shows that its trace holds an agent's run."""
    return reading.role.is_call or reading.role.is_task_root
