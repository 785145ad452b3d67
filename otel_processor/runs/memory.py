"""What is remembered of the traces and runs that are going on; bounded, the ones idle longest are put away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field

from otel_processor.detection.bounded import RecentMap, WeighedMap
from otel_processor.model import Role
from otel_processor.policy import Policy
from otel_processor.runs.attempts import Tries, tries_of
from otel_processor.runs.ending import Order
from otel_processor.runs.entry import Entry, Key
from otel_processor.runs.hearing import Hearing
from otel_processor.runs.policies import Policies
from otel_processor.runs.records import ReadSpan, RecordedCall
from otel_processor.runs.run_facts import Glimpse, RunFacts
from otel_processor.runs.tellings import Telling, Tellings
from otel_processor.runs.totals import Totals
from otel_processor.runs.trace_tree import Node, TraceTree
from otel_processor.runs.tracker import RunTracker
from otel_processor.runs.twins import Twins, may_have_twin

OPEN_RUNS = 4_000
"""Runs (and traces, twice as many) that are kept in memory; those put away come back from the store."""

OVER_RUNS = 1_000
"""Runs that are over and still kept in memory, the latest: a span of theirs that comes later than others is soon there."""

_TRIES = 10_000
"""Spans of a trace, not arrived yet, inside which attempts are remembered."""

_KEPT = 64
"""Entries that wait in a trace until it is decided which run it belongs to."""

MOST_WORDS = 7_000_000
"""Words that all open runs together remember, some 420 MB: beyond that the runs idle longest are put away."""

SPAN_IDS = 10_000
"""Ids of a trace's spans that are remembered; of a longer trace none are."""

PLAIN_TRACES = 2_000
"""Traces without a call or an agent that are remembered: they may turn out to surround one."""


@dataclass(slots=True)
class TraceMemory:
    """What is known of one trace."""

    tree: TraceTree = field(default_factory=TraceTree)
    spans: int = 0
    span_ids: set[str] | None = field(default_factory=set)
    """Of all of them; None: too many to remember."""
    has_agent: bool = False
    declared: tuple[Order, str] | None = None
    """The run that a root declares, the first to end where several do."""
    conversation: tuple[Order, Glimpse] | None = None
    """A root that is a call and names its conversation."""
    step: tuple[Order, Glimpse] | None = None
    """A root that is neither call nor agent and names its conversation: the tools of one step may lie below it."""
    has_model: bool = False
    run_id: str | None = None
    decided_by: str = ""
    run_ids: set[str] = field(default_factory=set)
    """Its own run, and those that the user declared for some of its spans."""
    is_traced: bool = False
    """A session that log records tell, whose model calls spans tell as well."""
    shows_run: bool = False
    """A call or an agent was seen: the trace is worth a run."""
    tries: dict[str, list[tuple[Node, Tries]]] = field(default_factory=dict)
    """Attempts inside spans that have not arrived, by the span's id."""
    waiting: list[Glimpse] = field(default_factory=list)
    """What spans say about the run, until it is decided which run that is."""
    telling: list[tuple[Node, Telling]] = field(default_factory=list)
    """What plain spans tell of calls by their ids, until then."""
    kept: list[Entry] = field(default_factory=list)
    """Plain spans that tell of calls without an id, until then."""

    def note(self, span_id: str) -> None:
        """Count a span that is taken in."""
        self.spans += 1
        if self.span_ids is not None:
            self.span_ids.add(span_id)
            if len(self.span_ids) > SPAN_IDS:
                self.span_ids = None

    def keep(self, entry: Entry) -> None:
        """Remember an entry of a trace that shows no run yet."""
        self.kept = [*self.kept, entry.lean()][-_KEPT:]

    def tried_inside(self, item: ReadSpan, node: Node) -> tuple[Tries | None, bool]:
        """Return the attempts inside a call; hand those that a plain span tells to the span above it.

        Returns:
            the attempts, and whether they come too late: the span above was judged without them.
        """
        inside: Tries | None = None
        for child, told in self.tries.pop(node.span_id, ()):
            # A request that outlives the call it was made for says nothing of it.
            inside = told.and_also(inside) if child.comes_before(node) else inside
        if node.role is not Role.OTHER:
            return inside, False
        own = tries_of(item.span)
        tries = own.and_also(inside) if own is not None else inside
        if tries is None or node.parent_id is None:
            return None, False
        above = self.tree.find(node.parent_id)
        if above is not None:
            return None, node.comes_before(above)
        known = self.tries.get(node.parent_id)
        if known is None and len(self.tries) < _TRIES:
            known = self.tries[node.parent_id] = []
        if known is not None and len(known) < _TRIES:
            known.append((node, tries))
        return None, False

    @property
    def talk(self) -> Glimpse | None:
        """What names the conversation that the trace is a part of and no task of its own: one call, or one step's tools."""
        if self.conversation is not None:
            return self.conversation[1]
        return self.step[1] if self.step is not None and not self.has_model else None

    def see_root(self, seen: Glimpse) -> bool:
        """Take in what a root says of the run; return whether it says otherwise than what was decided by."""
        reading = seen.reading
        if reading.run_id and (self.declared is None or seen.order < self.declared[0]):
            self.declared = (seen.order, reading.run_id)
        if not reading.conversation_id:
            return False
        if not reading.role.is_call:
            self.step = min(self.step or (seen.order, seen), (seen.order, seen), key=lambda known: known[0])
            return False
        if self.conversation is not None and self.conversation[0] < seen.order:
            return False
        self.conversation = (seen.order, seen)
        return self.decided_by == "conversation"


@dataclass(slots=True)
class Checkpoint:
    """A run as it was before its last calls."""

    tracker: RunTracker
    hearing: Hearing


@dataclass(slots=True)
class RunMemory:
    """What is known of one run."""

    tracker: RunTracker
    facts: RunFacts = field(default_factory=RunFacts)
    last_order: tuple[int, str] = (-1, "")
    trace_ids: set[str] = field(default_factory=set)
    hearing: Hearing = field(default_factory=Hearing)
    tellings: Tellings = field(default_factory=Tellings)
    twins: Twins = field(default_factory=Twins)
    fresh: list[Telling] = field(default_factory=list)
    """What was told by id and is not brought to its calls yet."""
    checkpoint: Checkpoint | None = None
    tail: list[Entry] = field(default_factory=list)
    """The calls since the checkpoint."""
    totals: Totals = field(default_factory=Totals)
    lent: str | None = None
    """The agent that calls of traces without one were counted under; None: there are no such calls, `""`: none was known."""
    lent_in: set[str] = field(default_factory=set)
    """Those traces."""
    stand_ins: dict[Key, RecordedCall] = field(default_factory=dict)
    """Rows that stand for model calls which were not recorded."""

    def take_in(self, trace_id: str, seen: Glimpse) -> None:
        """Take in what a span says of the run as a whole."""
        self.facts.add(seen)
        self.totals.add(trace_id, seen)

    def go_by(self, policies: Policies) -> bool:
        """Judge the run by the policy for its type of task; return False where calls were judged by another one already."""
        policy = policies.of(self.facts.told("task_type"))
        if self.tracker.state.policy is policy:
            return True
        if self.last_order[0] >= 0:
            return False
        self.tracker = RunTracker(self.tracker.run_id, policy)
        return True

    def lend_agent(self, trace_id: str) -> str:
        """Return the agent that a call belongs to whose trace knows none: the run's outermost one.

        An agent that died never tells its name; the run that it began goes on in another trace, under the same counters.
        """
        self.lent_in.add(trace_id)
        self.lent = self.facts.told("outer_agent") or ""
        return self.lent

    def lent_rightly(self, has_agent: Callable[[str], bool]) -> bool:
        """Return whether what was lent holds still: by the same agent, to traces that have none of their own."""
        if self.lent is None or len(self.trace_ids) < 2:
            return True
        return self.lent == (self.facts.told("outer_agent") or "") and not (self.lent and any(map(has_agent, self.lent_in)))

    def awaits_twin(self, entry: Entry) -> bool:
        """Return whether a log record of the call, or its span, may come; only where some came before."""
        return self.twins.has_records and may_have_twin(entry)

    def take_back(self) -> list[Entry]:
        """Return to the checkpoint, and return the calls since then; none where there is no checkpoint."""
        if self.checkpoint is None:
            return []
        self.tracker, self.hearing = self.checkpoint.tracker, self.checkpoint.hearing
        again, self.checkpoint, self.tail = self.tail, None, []
        return again

    def rename_agent(self, old: str, new: str) -> None:
        """Carry an agent's counters on under another name."""
        if not old:
            self.lent = None
            self.lent_in.clear()
        for tracker in (self.tracker, self.checkpoint.tracker if self.checkpoint is not None else None):
            if tracker is not None:
                tracker.state.rename_agent(old, new)

    @property
    def is_worth_a_row(self) -> bool:
        """Whether anything happened in it; not so when all calls of a trace were declared to be other runs."""
        return self.last_order[0] >= 0 or self.facts.has_agent


class Memory:
    """Traces and runs by id; owned by the ledger."""

    def __init__(self, policy: Policy) -> None:
        self.policies = Policies(policy)
        self._traces: RecentMap[str, TraceMemory] = RecentMap(2 * OPEN_RUNS)
        self._plain: RecentMap[str, TraceMemory] = RecentMap(PLAIN_TRACES)
        self._runs: WeighedMap[str, RunMemory] = WeighedMap(OPEN_RUNS, MOST_WORDS)
        self._over: dict[str, None] = {}

    def find(self, trace_id: str) -> TraceMemory | None:
        """Return what is known of a trace, or None."""
        return self._traces.get(trace_id) or self._plain.get(trace_id)

    def trace(self, trace_id: str, *, shows_run: bool) -> TraceMemory:
        """Return what is known of a trace, from now on; one that shows a run is kept longer."""
        trace = self.find(trace_id)
        if trace is None:
            trace = TraceMemory()
            self._plain.put(trace_id, trace)
        if shows_run and not trace.shows_run:
            trace.shows_run = True
            self._plain.pop(trace_id)
            self._traces.put(trace_id, trace)
        return trace

    def has_agent(self, trace_id: str) -> bool:
        """Return whether an agent was seen in a trace."""
        trace = self.find(trace_id)
        return trace is not None and trace.has_agent

    @property
    def put_away(self) -> int:
        """How many runs were forgotten to make room for others."""
        return self._runs.put_away

    def weigh(self, run: RunMemory) -> None:
        """Take in that a run has grown; those idle longest are put away where all together remember too much."""
        copies = 1 if run.checkpoint is None else 2
        self._runs.weigh(run.tracker.run_id, copies * run.tracker.state.weight)

    def note_ends(self, ends: Mapping[str, bool]) -> None:
        """Take in which runs are over by now; of the others that are, those over for longest are forgotten.

        They come back from the store, should more of them come.

        Args:
            ends: run id → whether it is over, of all runs that just got something.
        """
        for run_id in ends:
            self._over.pop(run_id, None)
        while len(self._over) > OVER_RUNS:
            first = next(iter(self._over))
            del self._over[first]
            traces = self.traces_of(first)
            if all(run_id == first for trace_id in traces for run_id in self.runs_of(trace_id)):
                self.forget(traces, (first,))
        self._over |= {run_id: None for run_id, is_over in ends.items() if is_over}

    def find_run(self, run_id: str) -> RunMemory | None:
        """Return what is known of a run, or None."""
        return self._runs.get(run_id)

    def run(self, run_id: str) -> RunMemory:
        """Return what is known of a run, from now on."""
        run = self._runs.get(run_id)
        if run is None:
            run = RunMemory(RunTracker(run_id, self.policies.of(None)))
            self._runs.put(run_id, run)
        return run

    def spans_seen(self, trace_id: str) -> int | None:
        """Return how many spans of a trace were taken in, or None when it or a run of it is not remembered."""
        trace = self.find(trace_id)
        if trace is None or any(run_id not in self._runs for run_id in trace.run_ids):
            return None
        return trace.spans

    def span_ids(self, trace_id: str) -> Set[str] | None:
        """Return the ids of a trace's spans that were taken in, or None when not all of them are remembered."""
        trace = self.find(trace_id)
        return trace.span_ids if trace is not None else None

    def runs_of(self, trace_id: str) -> set[str]:
        """Return the runs that a trace's calls belong to as far as is remembered."""
        trace = self._traces.get(trace_id)
        return set(trace.run_ids) if trace else set()

    def traces_of(self, run_id: str) -> set[str]:
        """Return the traces with calls in a run as far as is remembered."""
        run = self._runs.get(run_id)
        return set(run.trace_ids) if run else set()

    def forget(self, trace_ids: Iterable[str], run_ids: Iterable[str]) -> set[str]:
        """Forget these and all that share a run or a trace with them; return the runs that were forgotten."""
        traces, runs = list(trace_ids), list(run_ids)
        forgotten = set(runs)
        while traces or runs:
            while runs:
                run_id = runs.pop()
                forgotten.add(run_id)
                self._over.pop(run_id, None)
                run = self._runs.pop(run_id)
                traces.extend(run.trace_ids if run is not None else ())
            while traces:
                trace_id = traces.pop()
                self._plain.pop(trace_id)
                trace = self._traces.pop(trace_id)
                runs.extend(trace.run_ids if trace is not None else ())
        return forgotten
