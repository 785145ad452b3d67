"""The ledger: spans in, rows out, in logical order; says so when rows can only be right made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from otel_processor.detection.bounded import RecentMap
from otel_processor.detection.evidence import make_call
from otel_processor.model import Reading
from otel_processor.policy import Policy
from otel_processor.runs.records import Delta, KeptEvidence, ReadSpan, RecordedCall, Resolution, TraceRun
from otel_processor.runs.run_facts import Glimpse, Order, RunFacts, may_be_a_run
from otel_processor.runs.trace_tree import Loose, Node, TraceTree
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
    declared: tuple[Order, str] | None = None
    """The run that a root declares, the first to end where several do."""
    conversation: tuple[Order, Glimpse] | None = None
    """A root that is a call and names its conversation."""
    run_id: str | None = None
    decided_by: str = ""
    run_ids: set[str] = field(default_factory=set)
    """Its own run, and those that the user declared for some of its spans."""
    shows_run: bool = False
    """A call or an agent was seen: the trace is worth a run."""
    waiting: list[Glimpse] = field(default_factory=list)
    """What spans say about the run, until it is decided which run that is."""

    def see_root(self, seen: Glimpse) -> bool:
        """Take in what a root says of the run; return whether it says otherwise than what was decided by."""
        reading = seen.reading
        if reading.run_id and (self.declared is None or seen.order < self.declared[0]):
            self.declared = (seen.order, reading.run_id)
        if not reading.conversation_id or not reading.role.is_call:
            return False
        if self.conversation is not None and self.conversation[0] < seen.order:
            return False
        self.conversation = (seen.order, seen)
        return self.decided_by == "conversation"


@dataclass(slots=True)
class _Run:
    tracker: RunTracker
    facts: RunFacts = field(default_factory=RunFacts)
    last_order: tuple[int, str] = (-1, "")
    trace_ids: set[str] = field(default_factory=set)

    @property
    def is_worth_a_row(self) -> bool:
        """Whether anything happened in it; not so when all calls of a trace were declared to be other runs."""
        return self.last_order[0] >= 0 or self.facts.has_agent


@dataclass(slots=True)
class _Stretch:
    """A run of a conversation: from its first call to its last one so far."""

    run_id: str
    first_ns: int
    last_ns: int


_WAITING = 256

_STRETCHES = 64
"""Runs of one conversation that are remembered."""

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
        self._conversations: RecentMap[tuple[str, str], list[_Stretch]] = RecentMap(OPEN_RUNS)
        self._void_runs: set[str] = set()
        """Runs that are decided anew just now: what the store says of them does not hold."""

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

    def traces_of(self, run_id: str) -> set[str]:
        """Return the traces with calls in a run as far as the ledger remembers."""
        run = self._runs.get(run_id)
        return set(run.trace_ids) if run else set()

    def forget(self, trace_ids: Iterable[str], run_ids: Iterable[str] = ()) -> None:
        """Forget these traces and runs, and all that share a run or a trace with them, to take them in anew.

        Args:
            trace_ids: the traces.
            run_ids: runs of theirs that the next `apply` decides anew from all their spans.
        """
        traces, runs = list(trace_ids), list(run_ids)
        self._void_runs = set(runs)
        forgotten = set(runs)
        while traces or runs:
            while runs:
                run_id = runs.pop()
                forgotten.add(run_id)
                run = self._runs.pop(run_id)
                traces.extend(run.trace_ids if run is not None else ())
            while traces:
                trace_id = traces.pop()
                self._plain.pop(trace_id)
                trace = self._traces.pop(trace_id)
                runs.extend(trace.run_ids if trace is not None else ())
        for key, stretches in list(self._conversations.items()):
            kept = [stretch for stretch in stretches if stretch.run_id not in forgotten]
            if len(kept) < len(stretches):
                if self._void_runs:
                    self._conversations.put(key, kept)
                else:
                    self._conversations.pop(key)

    def forget_conversations(self) -> None:
        """Ask the store again which run a conversation is in: somebody else may have decided it since."""
        self._conversations.clear()

    def apply(self, spans: Iterable[ReadSpan]) -> Delta:
        """Take in spans that the ledger has not seen, in any order, and return what changes.

        Traces in `Delta.stale_traces` got something that belongs before what was decided already, or that changes it:
        their part of the delta is void; forget them and apply all their spans at once.
        """
        delta = Delta()
        pending: list[tuple[ReadSpan, Node]] = []
        touched: dict[str, set[str]] = {}
        awaited: list[tuple[ReadSpan, Node]] = []
        # Children before their parents, also where both end in the same instant.
        for item in sorted(spans, key=lambda read: (read.span.end_ns, -read.span.start_ns, read.span.span_id)):
            trace = self._trace_of(item)
            trace.spans += 1
            fresh = touched.setdefault(item.span.trace_id, set())
            fresh.add(item.span.span_id)
            node = self._place(trace, item, pending, delta)
            if trace.tree.is_awaited(node):
                awaited.append((item, node))
            if node.joins is not None and not (fresh.issuperset(node.joins) and _joined(pending, item.span.trace_id, node.joins)):
                delta.stale_traces.add(item.span.trace_id)
        for item, node in awaited:
            self._settle(item, node, delta)
        for trace_id in sorted(touched, key=self._when_decided):
            self._decide_run(trace_id, delta)
        self._fold(sorted(pending, key=lambda placed: placed[0].order), delta)
        self._check_names(delta)
        self._summarise(touched, delta)
        self._void_runs = set()
        delta.stale_runs = {run_id for trace_id in delta.stale_traces for run_id in self.runs_of(trace_id)}
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

    def _place(self, trace: _Trace, item: ReadSpan, pending: list[tuple[ReadSpan, Node]], delta: Delta) -> Node:
        span = item.span
        node = trace.tree.add(
            Node.of(item.reading, span_id=span.span_id, parent_id=span.parent_span_id, start_ns=span.start_ns, end_ns=span.end_ns)
        )
        seen = Glimpse.of(item.span, item.reading, node)
        trace.waiting.append(seen)
        if seen.is_root and trace.see_root(seen):
            delta.stale_traces.add(span.trace_id)
        if item.reading.role.is_task_root:
            trace.has_agent = True
        if not item.reading.role.is_call:
            return node
        if node.told_by is None:
            pending.append((item, node))
            return node
        for index in range(len(pending) - 1, -1, -1):
            earlier, told = pending[index]
            if told.span_id == node.told_by and earlier.span.trace_id == item.span.trace_id:
                pending[index] = (_together(earlier, item), told)
                return node
        # It may know more than what was recorded, or be the one that stands for the call.
        delta.stale_traces.add(item.span.trace_id)
        return node

    def _settle(self, item: ReadSpan, node: Node, delta: Delta) -> None:
        """A span came after some that are below it: what was decided about those may not hold."""
        trace_id = item.span.trace_id
        trace = self._find(trace_id)
        if trace is None:
            return
        loose = trace.tree.arrived(node)
        if loose.undeclared and trace.tree.declared_run_of(node) not in (None, trace.run_id):
            delta.stale_traces.add(trace_id)
            return
        agent = node.agent or trace.tree.agent_of(node) if loose.unnamed_in else None
        if agent is None:
            trace.tree.still_loose(node, loose)
        elif self._owns_all_unnamed(trace_id, trace, item, loose, agent):
            # The outermost agent: whatever nobody claimed is its own. Only its name was missing.
            delta.named_agents.append((trace_id, agent))
            self._run(str(trace.run_id)).tracker.state.rename_agent("", agent)
        else:
            # Some of the unnamed calls are its own, and were counted together with others.
            delta.stale_traces.add(trace_id)

    def _owns_all_unnamed(self, trace_id: str, trace: _Trace, item: ReadSpan, loose: Loose, agent: str) -> bool:
        """Return whether an agent's span lies above all calls of the run that were counted without a name, and no others."""
        is_root = item.span.parent_span_id is None or item.span.parent_is_remote
        if not is_root or not item.reading.role.is_task_root or trace.run_id is None or loose.unnamed_in != {trace.run_id}:
            return False
        run = self._runs.get(trace.run_id)
        if run is None or run.trace_ids != {trace_id} or run.tracker.state.knows_agent(agent):
            return False
        return not trace.tree.has_unnamed_calls

    def _check_names(self, delta: Delta) -> None:
        """Calls that lie outside an agent that just named the others cannot be told from those in the store."""
        for trace_id, _ in delta.named_agents:
            trace = self._traces.get(trace_id)
            if trace is not None and trace.tree.has_unnamed_calls:
                delta.stale_traces.add(trace_id)

    # Deciding: which run does the trace belong to?

    def _decide_run(self, trace_id: str, delta: Delta) -> None:
        trace = self._find(trace_id)
        if trace is None:
            return
        if not trace.shows_run:
            del trace.waiting[:-_WAITING]
            return
        run_id, decided_by = self._which_run(trace_id, trace, delta)
        leaves_conversation = trace.decided_by == "conversation" != decided_by
        if trace.run_id is not None and (trace.run_id != run_id or leaves_conversation):
            delta.stale_traces.add(trace_id)
            return
        if trace.run_id is None or trace.decided_by != decided_by:
            trace.run_id, trace.decided_by = run_id, decided_by
            trace.run_ids.add(run_id)
            delta.traces.append(TraceRun(trace_id, run_id, decided_by))
        self._gather(trace_id, trace)

    def _which_run(self, trace_id: str, trace: _Trace, delta: Delta) -> tuple[str, str]:
        """Apply the rules in their order: declared, the trace of an agent, the conversation, the trace."""
        if trace.declared is not None:
            return trace.declared[1], "declared"
        if trace.has_agent:
            return trace_id, "agent_root"
        if trace.decided_by == "conversation" and trace.run_id is not None:
            return trace.run_id, "conversation"
        if trace.conversation is not None:
            return self._conversation_run(trace_id, trace.conversation[1], delta), "conversation"
        return trace_id, "trace"

    def _when_decided(self, trace_id: str) -> tuple[int, str]:
        """Return a key that sorts traces of a conversation by their beginning."""
        trace = self._find(trace_id)
        known = trace.conversation if trace is not None else None
        return (known[1].start_ns if known is not None else 0, trace_id)

    def _conversation_run(self, trace_id: str, seen: Glimpse, delta: Delta) -> str:
        """Return the run of the conversation that was going on, or begin one named by this trace."""
        key = (seen.service, seen.reading.conversation_id or "")
        stretches = self._conversations.get(key)
        if stretches is None:
            stored = self._lookup_conversation(*key) if self._lookup_conversation is not None else None
            stretches = [_Stretch(stored[0], 0, stored[1])] if stored is not None and stored[0] not in self._void_runs else []
            self._conversations.put(key, stretches)
        idle_ns = int(self._policy.run_idle_timeout_seconds * 1e9)
        near = [s for s in stretches if seen.start_ns - s.last_ns <= idle_ns and s.first_ns - seen.end_ns <= idle_ns]
        if not near:
            stretches.append(_Stretch(trace_id, seen.start_ns, seen.end_ns))
            del stretches[:-_STRETCHES]
            return trace_id
        if len(near) > 1 or (seen.start_ns, trace_id) < (near[0].first_ns, near[0].run_id):
            # A late call that the run should have begun with, or that lies between two runs and makes them one.
            for stretch in near:
                run = self._runs.get(stretch.run_id)
                delta.stale_traces |= run.trace_ids if run is not None else set()
            delta.stale_traces.add(trace_id)
        near[0].last_ns = max(near[0].last_ns, seen.end_ns)
        return near[0].run_id

    def _gather(self, trace_id: str, trace: _Trace) -> None:
        """Move what waited at the trace into the facts of its run."""
        if trace.run_id is None:
            return
        run = self._run(trace.run_id)
        run.trace_ids.add(trace_id)
        for seen in trace.waiting:
            # A span inside another run that the user declared says nothing about the trace's own.
            declared = trace.tree.declared_run_of(seen.node)
            if declared is None:
                trace.tree.note_undeclared(seen.node)
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
            trace.tree.note_unnamed(node, run.tracker.run_id)
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


def _joined(pending: list[tuple[ReadSpan, Node]], trace_id: str, span_ids: tuple[str, str]) -> bool:
    """Make one of two calls that tell the same, the first that was placed; False where one of them stands for others."""
    found = [at for at, (item, node) in enumerate(pending) if node.span_id in span_ids and item.span.trace_id == trace_id]
    if len(found) < 2:
        return True
    (first, node), (second, told) = pending[found[0]], pending.pop(found[1])
    told.told_by = node.span_id
    pending[found[0]] = (_together(first, second), node)
    return True


def _together(first: ReadSpan, second: ReadSpan) -> ReadSpan:
    """Return the first of two spans that tell the same call with what only the second says, and what that was compared by."""
    told_by = first if first.reading.result is not None else second
    arguments_by = first if first.reading.arguments is not None else second
    kept = first.kept
    if kept is not None or second.kept is not None:
        signature = kept.signature if kept is not None else None
        evidence = kept.evidence if kept is not None else None
        if signature is None and arguments_by.kept is not None:
            signature = arguments_by.kept.signature
        if evidence is None and told_by.kept is not None:
            evidence = told_by.kept.evidence
        kept = KeptEvidence(signature, evidence)
    reading = _merged(first.reading, second.reading)
    return replace(first, reading=reading, kept=kept, result_was_cut=told_by.result_was_cut)


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
