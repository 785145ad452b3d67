"""The ledger: spans in, rows out, in logical order; says so when rows can only be right made anew."""

from __future__ import annotations

from collections.abc import Iterable, Set

from otel_processor.model import Role, Told
from otel_processor.policy import Policy
from otel_processor.runs.conversations import ConversationLookup, Conversations
from otel_processor.runs.entry import Entry
from otel_processor.runs.folding import Folding, Price
from otel_processor.runs.histories import Histories, HistoryLookup
from otel_processor.runs.log_calls import note_traced, place_log
from otel_processor.runs.memory import Memory, TraceMemory
from otel_processor.runs.records import Delta, NamedAgent, ReadSpan, TraceRun
from otel_processor.runs.run_facts import Glimpse, may_be_a_run
from otel_processor.runs.same_call import join_placed, told_together
from otel_processor.runs.summing import Summing
from otel_processor.runs.telling import made_here, told_of
from otel_processor.runs.tellings import Telling
from otel_processor.runs.trace_tree import Loose, Node
from otel_processor.runs.tracker import RunTracker

_WAITING = 256


class Ledger:
    """Assembles runs from spans, whatever path they took. Not thread-safe: its owner holds the lock."""

    def __init__(
        self,
        policy: Policy,
        lookup_conversation: ConversationLookup | None = None,
        *,
        lookup_history: HistoryLookup | None = None,
        price: Price | None = None,
    ) -> None:
        """Set up the ledger.

        Args:
            policy: the thresholds.
            lookup_conversation: finds the stored runs of a conversation.
            lookup_history: finds what a task's earlier runs used; without it no spend is far above anything.
            price: says what a model call cost that does not say it itself.
        """
        self._memory = Memory(policy)
        self._folding = Folding(self._memory, Histories(lookup_history), price)
        self._summing = Summing(self._memory)
        self._conversations = Conversations(policy.run_idle_timeout_seconds, lookup_conversation)

    @property
    def put_away(self) -> int:
        """How many runs were forgotten to make room for others; they come back from the store."""
        return self._memory.put_away

    def spans_seen(self, trace_id: str) -> int | None:
        """Return how many spans of a trace the ledger has taken in, or None when it does not remember the trace."""
        return self._memory.spans_seen(trace_id)

    def span_ids(self, trace_id: str) -> Set[str] | None:
        """Return the ids of a trace's spans that the ledger has taken in, or None when it does not remember them all."""
        return self._memory.span_ids(trace_id)

    def runs_of(self, trace_id: str) -> set[str]:
        """Return the runs that a trace's calls belong to as far as the ledger remembers."""
        return self._memory.runs_of(trace_id)

    def traces_of(self, run_id: str) -> set[str]:
        """Return the traces with calls in a run as far as the ledger remembers."""
        return self._memory.traces_of(run_id)

    def tracker_of(self, run_id: str) -> RunTracker | None:
        """Return how a run stands, or None where the ledger does not remember it."""
        run = self._memory.find_run(run_id)
        return run.tracker if run is not None else None

    def forget(self, trace_ids: Iterable[str], run_ids: Iterable[str] = ()) -> None:
        """Forget these traces and runs, and all that share a run or a trace with them, to take them in anew.

        Args:
            trace_ids: the traces.
            run_ids: runs of theirs that the next `apply` decides anew from all their spans.
        """
        void = set(run_ids)
        self._conversations.forget(self._memory.forget(trace_ids, void), void)

    def forget_conversations(self) -> None:
        """Ask the store again which run a conversation is in: somebody else may have decided it since."""
        self._conversations.forget_all()

    def apply(self, spans: Iterable[ReadSpan]) -> Delta:
        """Take in spans that the ledger has not seen, in any order, and return what changes.

        Traces in `Delta.stale_traces` got something that belongs before what was decided already, or that changes it:
        their part of the delta is void; forget them and apply all their spans at once.
        """
        delta = Delta()
        pending: list[Entry] = []
        touched: dict[str, set[str]] = {}
        awaited: list[tuple[ReadSpan, Node]] = []
        # Children before their parents, also where both end in the same instant.
        items = sorted(spans, key=lambda read: (read.span.end_ns, -read.span.start_ns, read.span.span_id))
        delta.stale_traces |= note_traced(self._memory, items)
        for item in items:
            if item.reading.log is not None:
                self._take_log(item, touched, pending, delta)
                continue
            # A model is asked in its turn, and only where it matters; the others stand for what they are.
            told = told_of(item) if item.reading.role is Role.OTHER else ()
            made = [made_here(item, each, number) for number, each in enumerate(told, 1) if each.made_here]
            trace = self._memory.trace(item.span.trace_id, shows_run=may_be_a_run(item.reading) or bool(made))
            trace.note(item.span.span_id)
            fresh = touched.setdefault(item.span.trace_id, set())
            fresh.update((item.span.span_id, *(call.span.span_id for call in made)))
            node = self._place(trace, item, pending, delta)
            for call in made:
                self._place(trace, call, pending, delta)
            if told:
                _hear(trace, item, node, told, pending)
            if trace.tree.is_awaited(node):
                awaited.append((item, node))
            if node.joins is not None and not (
                fresh.issuperset(node.joins) and join_placed(pending, item.span.trace_id, node.joins)
            ):
                delta.stale_traces.add(item.span.trace_id)
        for item, node in awaited:
            self._settle(item, node, delta)
        told_in: dict[str, None] = {}
        for trace_id in sorted(touched, key=self._when_decided):
            self._decide_run(trace_id, told_in, pending, delta)
        self._folding.begin(touched, delta)
        self._folding.fold(sorted(pending, key=lambda entry: entry.item.order), told_in, delta)
        self._check_names(delta)
        self._summing.summarise(touched, delta)
        self._conversations.decided()
        delta.stale_runs = {run_id for trace_id in delta.stale_traces for run_id in self.runs_of(trace_id)}
        self._memory.note_ends({run.run_id: run.ended_ns is not None for run in delta.runs})
        return delta

    def _take_log(self, item: ReadSpan, touched: dict[str, set[str]], pending: list[Entry], delta: Delta) -> None:
        """Take in a log record: a call that no span may tell, or what says nothing of its own."""
        trace_id = item.span.trace_id
        trace = self._memory.trace(trace_id, shows_run=False)
        counts = item.reading.role.is_call and not (trace.is_traced and item.reading.role is Role.MODEL)
        trace = self._memory.trace(trace_id, shows_run=counts)
        trace.note(item.span.span_id)
        touched.setdefault(trace_id, set()).add(item.span.span_id)
        if counts and place_log(trace, item, pending):
            delta.stale_traces.add(trace_id)

    # Placing: what is this span, and does it tell a call that another one told?

    def _place(self, trace: TraceMemory, item: ReadSpan, pending: list[Entry], delta: Delta) -> Node:
        span = item.span
        node = trace.tree.add(
            Node.of(item.reading, span_id=span.span_id, parent_id=span.parent_span_id, start_ns=span.start_ns, end_ns=span.end_ns)
        )
        seen = Glimpse.of(item.span, item.reading, node)
        trace.waiting.append(seen)
        if seen.is_root and trace.see_root(seen):
            delta.stale_traces.add(span.trace_id)
        trace.has_agent |= item.reading.role.is_task_root
        trace.has_model |= item.reading.role is Role.MODEL
        tries, late = trace.tried_inside(item, node)
        if late:
            delta.stale_traces.add(span.trace_id)
        if not item.reading.role.is_call:
            return node
        if node.told_by is None:
            pending.append(Entry(item, node, tries=tries))
            return node
        for earlier in reversed(pending):
            if earlier.node.span_id == node.told_by and earlier.item.span.trace_id == span.trace_id and earlier.is_call:
                earlier.item = told_together(earlier.item, item)
                earlier.tries = tries.and_also(earlier.tries) if tries is not None else earlier.tries
                return node
        # It may know more than what was recorded, or be the one that stands for the call.
        delta.stale_traces.add(item.span.trace_id)
        return node

    def _settle(self, item: ReadSpan, node: Node, delta: Delta) -> None:
        """A span came after some that are below it: what was decided about those may not hold."""
        trace_id = item.span.trace_id
        trace = self._memory.find(trace_id)
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
            delta.named_agents.append(NamedAgent(trace_id, agent, trace.tree.first_end_ns or 0))
            self._memory.run(str(trace.run_id)).rename_agent("", agent)
        else:
            # Some of the unnamed calls are its own, and were counted together with others.
            delta.stale_traces.add(trace_id)

    def _owns_all_unnamed(self, trace_id: str, trace: TraceMemory, item: ReadSpan, loose: Loose, agent: str) -> bool:
        """Return whether an agent's span lies above all calls of the run that were counted without a name, and no others."""
        is_root = item.span.parent_span_id is None or item.span.parent_is_remote
        if not is_root or not item.reading.role.is_task_root or trace.run_id is None or loose.unnamed_in != {trace.run_id}:
            return False
        run = self._memory.find_run(trace.run_id)
        if run is None or run.trace_ids != {trace_id} or run.tracker.state.knows_agent(agent):
            return False
        return not trace.tree.has_unnamed_calls

    def _check_names(self, delta: Delta) -> None:
        """Calls that lie outside an agent that just named the others cannot be told from those in the store."""
        for named in delta.named_agents:
            trace = self._memory.find(named.trace_id)
            if trace is not None and trace.tree.has_unnamed_calls:
                delta.stale_traces.add(named.trace_id)

    # Deciding: which run does the trace belong to?

    def _decide_run(self, trace_id: str, told_in: dict[str, None], pending: list[Entry], delta: Delta) -> None:
        trace = self._memory.find(trace_id)
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
        self._gather(trace_id, trace, told_in)
        pending.extend(trace.kept)
        trace.kept.clear()

    def _which_run(self, trace_id: str, trace: TraceMemory, delta: Delta) -> tuple[str, str]:
        """Apply the rules in their order: declared, the trace of an agent, the conversation, the trace."""
        if trace.declared is not None:
            return trace.declared[1], "declared"
        if trace.has_agent:
            return trace_id, "agent_root"
        talk = trace.talk
        if talk is not None and trace.decided_by == "conversation" and trace.run_id is not None:
            return trace.run_id, "conversation"
        if talk is not None:
            run_id, wrong = self._conversations.run_of(trace_id, talk)
            if wrong:
                delta.joined_runs |= wrong
                delta.stale_traces |= {trace_id}.union(*map(self._memory.traces_of, wrong))
            return run_id, "conversation"
        return trace_id, "trace"

    def _when_decided(self, trace_id: str) -> tuple[int, str]:
        """Return a key that sorts traces of a conversation by their beginning."""
        trace = self._memory.find(trace_id)
        known = trace.talk if trace is not None else None
        return (known.start_ns if known is not None else 0, trace_id)

    def _gather(self, trace_id: str, trace: TraceMemory, told_in: dict[str, None]) -> None:
        """Move what waited at the trace into the facts of its run."""
        if trace.run_id is None:
            return
        run = self._memory.run(trace.run_id)
        run.trace_ids.add(trace_id)
        for seen in trace.waiting:
            # A span inside another run that the user declared says nothing about the trace's own.
            declared = trace.tree.declared_run_of(seen.node)
            if declared is None:
                trace.tree.note_undeclared(seen.node)
            if declared is None or declared == trace.run_id:
                run.take_in(trace_id, seen)
                continue
            other = self._memory.run(declared)
            other.trace_ids.add(trace_id)
            trace.run_ids.add(declared)
            other.take_in(trace_id, seen)
        trace.waiting.clear()
        for node, telling in trace.telling:
            run_id = trace.tree.declared_run_of(node) or trace.run_id
            self._memory.run(run_id).fresh.append(telling)
            told_in[run_id] = None
        trace.telling.clear()


def _hear(trace: TraceMemory, item: ReadSpan, node: Node, told: tuple[Told, ...], pending: list[Entry]) -> None:
    """Take in what a plain span tells of other spans' calls: by their ids whenever it comes, by their tools in its turn."""
    trace.telling.extend((node, Telling(item.order, each)) for each in told if each.call_id is not None and not each.made_here)
    del trace.telling[:-_WAITING]
    # A result may carry an id that the call's own span does not.
    by_tool = tuple(each for each in told if each.tool is not None and each.result is not None and not each.made_here)
    if by_tool:
        pending.append(Entry(item, node, told=by_tool))
