"""The ledger: spans in, rows out, in logical order; says so when rows can only be right made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from otel_processor.detection.bounded import RecentMap
from otel_processor.detection.evidence import make_call
from otel_processor.model import Reading, Role
from otel_processor.policy import Policy
from otel_processor.runs.records import Delta, ReadSpan, RecordedCall, Resolution, TraceRun
from otel_processor.runs.run_facts import Glimpse, RunFacts, may_be_a_run
from otel_processor.runs.trace_tree import Node, TraceTree
from otel_processor.runs.tracker import RunTracker

OPEN_RUNS = 10_000
"""Runs (and traces, twice as many) that are kept in memory; the ones idle longest are put away, and come back from the store."""

ConversationLookup = Callable[[str, str], tuple[str, int] | None]
"""(service, conversation id) → (run id, nanoseconds when it was last seen), from the store."""


@dataclass(slots=True)
class _Trace:
    tree: TraceTree = field(default_factory=TraceTree)
    spans: int = 0
    has_agent: bool = False
    run_id: str | None = None
    decided_by: str = ""
    run_ids: set[str] = field(default_factory=set)
    """Its own run, and those that the user declared for some of its spans."""
    shows_run: bool = False
    """A call or an agent was seen: the trace is worth a run."""
    waiting: list[Glimpse] = field(default_factory=list)
    """What spans say about the run, until it is decided which run that is."""


@dataclass(slots=True)
class _Run:
    tracker: RunTracker
    facts: RunFacts = field(default_factory=RunFacts)
    last_order: tuple[int, str] = (-1, "")
    trace_ids: set[str] = field(default_factory=set)

    @property
    def is_worth_a_row(self) -> bool:
        """Whether anything happened in it; not so when all calls of a trace were declared to be other runs."""
        return self.last_order[0] >= 0 or self.facts.outer_agent is not None


_WAITING = 256

PLAIN_TRACES = 2_000
"""Traces without a call or an agent that are remembered: they may turn out to surround one."""


class Ledger:
    """Assembles runs from spans, whatever path they took. Not thread-safe: its owner holds the lock."""

    def __init__(self, policy: Policy, lookup_conversation: ConversationLookup | None = None) -> None:
        self._policy = policy
        self._lookup_conversation = lookup_conversation
        self._traces: RecentMap[str, _Trace] = RecentMap(2 * OPEN_RUNS)
        self._plain: RecentMap[str, _Trace] = RecentMap(PLAIN_TRACES)
        self._runs: RecentMap[str, _Run] = RecentMap(OPEN_RUNS)
        self._conversations: RecentMap[tuple[str, str], tuple[str, int]] = RecentMap(OPEN_RUNS)

    def spans_seen(self, trace_id: str) -> int | None:
        """Return how many spans of a trace the ledger has taken in, or None when it does not remember the trace."""
        trace = self._find(trace_id)
        if trace is None or any(run_id not in self._runs for run_id in trace.run_ids):
            return None
        return trace.spans

    def runs_of(self, trace_id: str) -> set[str]:
        """Return the runs that a trace's calls belong to as far as the ledger remembers."""
        trace = self._traces.get(trace_id)
        return set(trace.run_ids) if trace else set()

    def forget(self, trace_ids: Iterable[str], run_ids: Iterable[str] = ()) -> None:
        """Forget these traces and runs, and all that share a run or a trace with them, to take them in anew."""
        traces, runs = list(trace_ids), list(run_ids)
        while traces or runs:
            while runs:
                run = self._runs.pop(runs.pop())
                traces.extend(run.trace_ids if run is not None else ())
            while traces:
                trace_id = traces.pop()
                self._plain.pop(trace_id)
                trace = self._traces.pop(trace_id)
                runs.extend(trace.run_ids if trace is not None else ())
        self._conversations.clear()

    def apply(self, spans: Iterable[ReadSpan]) -> Delta:
        """Take in spans that the ledger has not seen, in any order, and return what changes.

        Traces in `Delta.stale_traces` got something that belongs before what was decided already, or that changes it:
        their part of the delta is void; forget them and apply all their spans at once.
        """
        delta = Delta()
        pending: list[tuple[ReadSpan, Node]] = []
        touched: dict[str, None] = {}
        # Children before their parents, also where both end in the same instant.
        for item in sorted(spans, key=lambda read: (read.span.end_ns, -read.span.start_ns, read.span.span_id)):
            trace = self._trace_of(item)
            trace.spans += 1
            touched[item.span.trace_id] = None
            self._place(trace, item, pending, delta)
        for trace_id in touched:
            self._decide_run(trace_id, delta)
        self._fold(sorted(pending, key=lambda placed: placed[0].order), delta)
        self._summarise(touched, delta)
        return delta

    def _find(self, trace_id: str) -> _Trace | None:
        return self._traces.get(trace_id) or self._plain.get(trace_id)

    def _trace_of(self, item: ReadSpan) -> _Trace:
        trace_id = item.span.trace_id
        trace = self._find(trace_id)
        if trace is None:
            trace = _Trace()
            self._plain.put(trace_id, trace)
        if not trace.shows_run and may_be_a_run(item.reading):
            trace.shows_run = True
            self._plain.pop(trace_id)
            self._traces.put(trace_id, trace)
        return trace

    # Placing: what is this span, and does it tell a call that another one told?

    def _place(self, trace: _Trace, item: ReadSpan, pending: list[tuple[ReadSpan, Node]], delta: Delta) -> None:
        span = item.span
        node = trace.tree.add(
            Node.of(item.reading, span_id=span.span_id, parent_id=span.parent_span_id, start_ns=span.start_ns, end_ns=span.end_ns)
        )
        trace.waiting.append(Glimpse.of(item.span, item.reading, node))
        if len(trace.waiting) > _WAITING and trace.run_id is None:
            del trace.waiting[0]
        if item.reading.role.is_task_root:
            trace.has_agent = True
            self._name_calls(trace, item, node, delta)
        if not item.reading.role.is_call:
            return
        if node.told_by is None:
            pending.append((item, node))
            return
        for index, (earlier, told) in enumerate(pending):
            if told.span_id == node.told_by:
                pending[index] = (replace(earlier, reading=_merged(earlier.reading, item.reading)), told)
                return
        if _adds_facts(item.reading):
            delta.stale_traces.add(item.span.trace_id)

    def _name_calls(self, trace: _Trace, item: ReadSpan, node: Node, delta: Delta) -> None:
        """An agent's span came: calls recorded without a name may be its calls."""
        if not trace.tree.unnamed_calls or not item.reading.agent:
            return
        if trace.run_id is None or trace.tree.agent_of(node) is not None:
            return
        run = self._runs.get(trace.run_id)
        if run is None:
            return
        if node.parent_id is None or item.span.parent_is_remote:
            # The outermost agent: whatever nobody claimed is its own. Only its name was missing.
            delta.named_agents.append((item.span.trace_id, item.reading.agent))
            run.tracker.state.rename_agent("", item.reading.agent)
            trace.tree.unnamed_calls = 0
        else:
            # A sub-agent: some of the unnamed calls are its own, and were counted together with others.
            delta.stale_traces.add(item.span.trace_id)

    # Deciding: which run does the trace belong to?

    def _decide_run(self, trace_id: str, delta: Delta) -> None:
        trace = self._find(trace_id)
        if trace is None or not trace.shows_run:
            return
        run_id, decided_by = self._which_run(trace_id, trace)
        if trace.run_id is not None and trace.run_id != run_id:
            delta.stale_traces.add(trace_id)
            return
        if trace.run_id is None or trace.decided_by != decided_by:
            trace.run_id, trace.decided_by = run_id, decided_by
            trace.run_ids.add(run_id)
            delta.traces.append(TraceRun(trace_id, run_id, decided_by))
        self._gather(trace_id, trace)

    def _which_run(self, trace_id: str, trace: _Trace) -> tuple[str, str]:
        """Apply the rules in their order: declared, the trace of an agent, the conversation, the trace."""
        roots = [seen for seen in trace.waiting if seen.is_root]
        declared = next((seen.reading.run_id for seen in roots if seen.reading.run_id), None)
        if declared and trace.decided_by != "agent_root":
            return declared, "declared"
        if trace.decided_by == "declared" and trace.run_id is not None:
            return trace.run_id, "declared"
        if trace.has_agent:
            return trace_id, "agent_root"
        if trace.decided_by == "conversation" and trace.run_id is not None:
            return trace.run_id, "conversation"
        for seen in roots:
            if seen.reading.conversation_id and seen.reading.role.is_call:
                return self._conversation_run(trace_id, seen, seen.reading.conversation_id), "conversation"
        return trace_id, "trace"

    def _conversation_run(self, trace_id: str, seen: Glimpse, conversation: str) -> str:
        """Return the conversation's open run, or begin one named by this trace."""
        key = (seen.service, conversation)
        known = self._conversations.get(key)
        if known is None and self._lookup_conversation is not None:
            known = self._lookup_conversation(*key)
        idle_ns = int(self._policy.run_idle_timeout_seconds * 1e9)
        run_id = known[0] if known is not None and seen.start_ns - known[1] <= idle_ns else trace_id
        self._conversations.put(key, (run_id, max(seen.end_ns, known[1] if known else 0)))
        return run_id

    def _gather(self, trace_id: str, trace: _Trace) -> None:
        """Move what waited at the trace into the facts of its run."""
        if trace.run_id is None:
            return
        run = self._run(trace.run_id)
        run.trace_ids.add(trace_id)
        for seen in trace.waiting:
            # A span inside another run that the user declared says nothing about the trace's own.
            declared = trace.tree.declared_run_of(seen.node)
            if declared is None or declared == trace.run_id:
                run.facts.add(seen)
                continue
            other = self._run(declared)
            other.trace_ids.add(trace_id)
            trace.run_ids.add(declared)
            other.facts.add(seen)
        trace.waiting.clear()

    def _run(self, run_id: str) -> _Run:
        run = self._runs.get(run_id)
        if run is None:
            run = _Run(RunTracker(run_id, self._policy))
            self._runs.put(run_id, run)
        return run

    # Folding: what does each call mean for its run?

    def _fold(self, pending: list[tuple[ReadSpan, Node]], delta: Delta) -> None:
        for item, node in pending:
            trace_id = item.span.trace_id
            trace = self._traces.get(trace_id)
            if trace is None or trace.run_id is None or trace_id in delta.stale_traces:
                continue
            declared = trace.tree.declared_run_of(node)
            declared = declared if declared != trace.run_id else None
            run = self._run(declared or trace.run_id)
            if declared is not None:
                run.trace_ids.add(trace_id)
                trace.run_ids.add(declared)
            if item.order < run.last_order:
                delta.stale_traces |= run.trace_ids | {trace_id}
                continue
            run.last_order = item.order
            self._observe(item, node, trace, run, declared, delta)

    def _observe(self, item: ReadSpan, node: Node, trace: _Trace, run: _Run, declared: str | None, delta: Delta) -> None:
        agent = item.reading.agent or trace.tree.agent_of(node) or ""
        if not agent:
            trace.tree.unnamed_calls += 1
        arguments = run.tracker.arguments_for(item.reading)
        call = make_call(
            item.reading,
            trace_id=item.span.trace_id,
            span_id=item.span.span_id,
            agent=agent,
            start_ns=item.span.start_ns,
            end_ns=item.span.end_ns,
            policy=self._policy,
            arguments=arguments,
            signature=item.kept.signature if item.kept else None,
            evidence=item.kept.evidence if item.kept else None,
            result_was_cut=item.result_was_cut,
        )
        if call.reading.arguments is None and arguments is not None:
            call = call._replace(reading=replace(call.reading, arguments=arguments))
        outcome, opened, resolved = run.tracker.observe(call, task=run.facts.task)
        delta.calls.append(RecordedCall(call, outcome, declared, was_altered=item.kept is not None))
        delta.alerts.extend(opened)
        delta.resolutions.extend(
            Resolution(alert.run_id, alert.verdict.pattern, alert.resolved_ns or item.span.end_ns) for alert in resolved
        )

    # Summing up: what is decided about each run that was touched?

    def _summarise(self, touched: Iterable[str], delta: Delta) -> None:
        run_ids: dict[str, None] = {}
        for trace_id in touched:
            trace = self._traces.get(trace_id)
            if trace is not None and trace_id not in delta.stale_traces:
                run_ids |= dict.fromkeys(trace.run_ids)
        for run_id in run_ids:
            run = self._runs.get(run_id)
            if run is None or not run.is_worth_a_row:
                continue
            summary = run.facts.summary(run.tracker)
            delta.runs.append(summary)
            if summary.ended_ns is not None:
                delta.resolutions.extend(
                    Resolution(run_id, alert.verdict.pattern, summary.ended_ns) for alert in run.tracker.finish(summary.ended_ns)
                )


_MERGED_FIELDS = (
    "agent", "conversation_id", "call_id", "arguments", "result", "error_type", "error_message", "model", "provider",
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "cost_usd", "finish_reason",
    "text", "reasoning", "run_id", "task", "task_type", "progress_declared",
)  # fmt: skip


def _merged(first: Reading, second: Reading) -> Reading:
    """Return the first reading with what only the second says of the same call."""
    missing = {
        name: value for name in _MERGED_FIELDS if getattr(first, name) is None and (value := getattr(second, name)) is not None
    }
    return replace(
        first,
        **missing,
        is_error=first.is_error or second.is_error,
        requested=first.requested or second.requested,
        dialect=first.dialect or second.dialect,
    )


def _adds_facts(reading: Reading) -> bool:
    """Return whether a span that tells a recorded call again may say something that matters to the verdict."""
    if reading.role is Role.MODEL:
        return bool(reading.requested) or reading.input_tokens is not None
    return reading.arguments is not None or reading.result is not None or reading.is_error
