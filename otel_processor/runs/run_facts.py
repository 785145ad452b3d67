"""What is known of a run as a whole, gathered span by span."""

from __future__ import annotations

from dataclasses import dataclass

from otel_processor.model import Reading, SpanRecord, StopReason
from otel_processor.runs.records import RunSummary
from otel_processor.runs.trace_tree import Node
from otel_processor.runs.tracker import RunTracker


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

    @classmethod
    def of(cls, span: SpanRecord, reading: Reading, node: Node) -> Glimpse:
        """Return what the span says about its run."""
        is_root = span.parent_span_id is None or span.parent_is_remote
        return cls(node, span.name, span.service, span.start_ns, span.end_ns, span.status == "ERROR", is_root, reading)


@dataclass(slots=True)
class RunFacts:
    """Gathers what the spans of a run say about it; owned by the ledger."""

    service: str = ""
    conversation_id: str | None = None
    started_ns: int = 0
    last_ns: int = 0
    root_end_ns: int | None = None
    root_failed: bool = False
    declared_task: str | None = None
    task_type: str | None = None
    outer_agent: str | None = None
    outer_agent_start_ns: int = 0
    root_name: str | None = None
    any_agent: str | None = None

    def add(self, seen: Glimpse) -> None:
        """Take in what one span of the run says."""
        reading = seen.reading
        self.service = self.service or seen.service
        self.started_ns = min(self.started_ns, seen.start_ns) if self.started_ns else seen.start_ns
        self.last_ns = max(self.last_ns, seen.end_ns)
        self.conversation_id = self.conversation_id or reading.conversation_id
        self.declared_task = self.declared_task or reading.task
        self.task_type = self.task_type or reading.task_type
        if (
            reading.role.is_task_root
            and reading.agent
            and (self.outer_agent is None or seen.start_ns < self.outer_agent_start_ns)
        ):
            # The outermost agent names the task; it begins first, whenever its span arrives.
            self.outer_agent, self.outer_agent_start_ns = reading.agent, seen.start_ns
        elif reading.agent and self.any_agent is None:
            self.any_agent = reading.agent
        declares_run = reading.role.is_task_root and reading.run_id is not None
        if (seen.is_root and not reading.role.is_call) or declares_run:
            self.root_name = seen.name
            self.root_end_ns = max(self.root_end_ns or 0, seen.end_ns)
            self.root_failed = self.root_failed or seen.failed

    @property
    def task(self) -> str | None:
        """What the run is for: declared, else the outermost agent or workflow, else the root span's name."""
        return self.declared_task or self.outer_agent or self.any_agent or self.root_name

    def summary(self, tracker: RunTracker) -> RunSummary:
        """Return what is decided so far."""
        ended = self.root_end_ns
        if ended is None:
            stop_reason, status = StopReason.RUNNING, "running"
        elif self.root_failed:
            stop_reason, status = StopReason.ERROR, "error"
        else:
            stop_reason, status = tracker.end_reason, "ok"
        return RunSummary(
            run_id=tracker.run_id,
            task=self.task,
            task_type=self.task_type,
            agent=self.outer_agent or self.any_agent,
            service=self.service,
            conversation_id=self.conversation_id,
            started_ns=self.started_ns,
            ended_ns=None if ended is None else max(ended, self.last_ns),
            last_ns=self.last_ns,
            stop_reason=stop_reason,
            flagged_reason=tracker.flagged_reason,
            status=status,
        )


def may_be_a_run(reading: Reading) -> bool:
    """Return whether a span alone shows that its trace holds an agent's run."""
    return reading.role.is_call or reading.role.is_task_root
