"""What the running process knows of its open spans and runs."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from otel_processor.detection.bounded import RecentMap, WeighedMap
from otel_processor.guard.asked import AskedCalls
from otel_processor.guard.declaring import find_roots
from otel_processor.guard.guarded_run import GuardedRun
from otel_processor.model import Mode, Role
from otel_processor.processor import recalling
from otel_processor.processor.cancelled import handled_now
from otel_processor.processor.open_spans import DEPTH, EndedCall, OpenSpan, Surroundings, surroundings_of
from otel_processor.processor.recalling import Earlier, Recall
from otel_processor.processor.sdk_span import raw_attributes
from otel_processor.runs.attempts import Tries
from otel_processor.runs.ending import Ending
from otel_processor.runs.memory import MOST_WORDS
from otel_processor.runs.policies import Policies
from otel_processor.runs.requests import Requests
from otel_processor.runs.trace_tree import agree, at_once
from otel_processor.runs.tracker import RunTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opentelemetry.sdk.trace import Span

    from otel_processor.guard.answer import Answer
    from otel_processor.model import Alert, Call
    from otel_processor.policy import Policy

OPEN_SPANS = 50_000
"""Spans remembered between start and end; one that never ends is forgotten when as many others have started since."""

LIVE_RUNS = 10_000

_INSIDE = 16
"""Calls directly inside one span that are remembered until it ends."""

_CALL_IDS = 256
"""Call ids of a run that are remembered: a call told again is told soon."""


@dataclass(slots=True)
class LiveRun:
    """A run that is going on in this process."""

    tracker: RunTracker
    requests: Requests = field(default_factory=Requests)
    by_call_id: RecentMap[tuple[str | None, str], EndedCall] = field(default_factory=lambda: RecentMap(_CALL_IDS))
    ending: Ending = field(default_factory=Ending)
    last_ns: int = 0
    recall: Recall | None = None
    """It may be older than this process, and it is not known yet how it stood."""
    guarded: GuardedRun | None = None
    """Only once somebody asks: most runs are watched, not guarded."""
    asked: AskedCalls = field(default_factory=AskedCalls)


class LiveRuns:
    """Open spans and runs of one process. `lock` guards everything in it; both are bounded."""

    def __init__(
        self,
        policy: Policy,
        mode: Mode = Mode.OBSERVE,
        tell: Callable[[Alert], object] | None = None,
        earlier: Earlier | None = None,
    ) -> None:
        self._policies = Policies(policy)
        self.mode = mode
        self.tell = tell
        self._earlier = earlier
        self._looked_back = self._has_waited = False
        self.lock = threading.Lock()
        self._spans: RecentMap[int, OpenSpan] = RecentMap(OPEN_SPANS)
        self._runs: WeighedMap[str, LiveRun] = WeighedMap(LIVE_RUNS, MOST_WORDS)
        self._conversations: RecentMap[tuple[str, str], str] = RecentMap(LIVE_RUNS)
        _all.add(self)

    def begin(self, span: Span, *, declared: bool = False) -> OpenSpan:
        """Remember a span that starts.

        Args:
            span: the span.
            declared: the user said which run it belongs to.
        """
        above = span.parent
        if self._earlier is not None and (declared or (above is not None and above.is_remote)):
            # It may be asked for when the first call ends.
            self._earlier.start()
        with self.lock:
            parent = self._spans.peek(above.span_id) if above is not None else None
            known = OpenSpan(span, raw_attributes(span), parent, above is not None, handled_now())
            self._spans.put(span.context.span_id, known)
        return known

    def end(self, span: Span) -> OpenSpan:
        """Forget a span that ends; one that started before we were there is taken as it is."""
        with self.lock:
            known = self._spans.pop(span.context.span_id)
        return known if known is not None else OpenSpan(span, raw_attributes(span), None, span.parent is not None)

    def is_told_again(self, known: OpenSpan, call: EndedCall, run: LiveRun) -> bool:
        """Return whether a call that ends was told already, by a span inside it or one with its call id.

        The ledger decides this for good, once it has seen all spans; here children have ended before their parents.
        """
        first = None
        if known.inside:
            first = next((inner for inner in known.inside if agree(inner, call)), None)
        if call.call_id is not None:
            key = (call.tool, call.call_id)
            other = run.by_call_id.peek(key)
            if first is None and other is not None and other.role is call.role and at_once(call, other):
                first = other
            run.by_call_id.put(key, first or call)
        if known.parent is not None:
            self.lies_inside(known.parent, (first or call,))
        return first is not None

    def tried_inside(self, known: OpenSpan, own: Tries | None) -> None:
        """Hand what a plain span says of attempts, and those inside it, to the span above."""
        tries = own.and_also(known.tries) if own is not None else known.tries
        if tries is not None and known.parent is not None:
            known.parent.tries = tries.and_also(known.parent.tries)

    def lies_inside(self, above: OpenSpan, calls: Sequence[EndedCall]) -> None:
        """Remember at an open span that these calls lie directly inside it."""
        if above.inside is None:
            above.inside = []
        above.inside.extend(calls[: _INSIDE - len(above.inside)])

    def run_of(self, known: OpenSpan, around: Surroundings, trace_id: str) -> LiveRun:
        """Return the run that a call belongs to.

        That is the declared one, else its trace's; the conversation's where the call is a trace of its own.
        """
        run_id = around.declared_run_id or trace_id
        # What began here has its first span here.
        may_be_older = around.declared_run_id is not None or (known.has_parent and known.parent is None)
        if not known.has_parent and around.declared_run_id is None:
            conversation = known.read().conversation_id
            if conversation:
                run_id = self._conversation_run(known, trace_id, conversation)
                may_be_older = run_id != trace_id
        return self._run(run_id, around.task_type, may_be_older=may_be_older)

    def look_back(self, known: OpenSpan) -> None:
        """Find out, once and without the lock, which conversations this process may go on with."""
        if self._earlier is None or self._looked_back or known.has_parent or not known.read().conversation_id:
            return
        self._looked_back = self._has_waited = True
        self._earlier.look(recalling.FIRST_WAIT_SECONDS)

    def recollect(self, run: LiveRun, agent: str) -> tuple[Alert, ...]:
        """Let a run that is older than this process go on from where it stood; return alerts that were not told for want of that.

        The first time it waits for that a moment, without the lock.

        Args:
            run: the run.
            agent: the outermost one that goes on with it.
        """
        recall = run.recall
        if recall is None:
            return ()
        if recall.wait(recalling.WAIT_SECONDS if self._has_waited else recalling.FIRST_WAIT_SECONDS):
            self._has_waited = True
        with self.lock:
            if run.recall is None or not recall.is_due:
                return ()
            run.recall = None
            run.tracker, alerts = recall.resumed(run.tracker, agent)
            if run.guarded is not None:
                run.guarded.tracker = run.tracker
            return alerts

    def open_span(self, span_id: int) -> OpenSpan | None:
        """Return a span that has started and not ended."""
        with self.lock:
            return self._spans.peek(span_id)

    def run_around(self, span_id: int) -> tuple[LiveRun, str] | None:
        """Return the run that an open span of this process belongs to, under guard from now on, and the span's agent."""
        known = self._spans.peek(span_id)
        if known is None:
            return None
        trace_id = f"{known.span.context.trace_id:032x}"
        around = surroundings_of(known)
        is_call = known.read().role.is_call
        if is_call:
            run = self.run_of(known, around, trace_id)
        else:
            declared = around.declared_run_id
            run = self._run(declared or trace_id, around.task_type, may_be_older=declared is not None)
        self.guard(run, around.task)
        return run, around.agent

    def root_around(self, span_id: int) -> OpenSpan | None:
        """Return the open span that an open span of this process lies in, and that lies in none."""
        known = self._spans.peek(span_id)
        for _ in range(DEPTH):
            if known is None or known.parent is None:
                break
            known = known.parent
        return known

    def refuse_inside(self, span_id: int, call: Call, answer: Answer) -> bool:
        """Remember at a call's own open span that the call is refused; return whether the span is that call's."""
        known = self._spans.peek(span_id)
        tool = call.reading.tool or ""
        if known is None or known.refused is not None:
            return False
        reading = known.read()
        if not (reading.tool == tool if reading.role is Role.TOOL else reading.role is Role.OTHER and tool in known.span.name):
            return False
        known.refused = (call, answer)
        return True

    def guard(self, run: LiveRun, task: str | None) -> GuardedRun:
        """Return the guard's memory of a run, a new one where there was none."""
        if run.guarded is None:
            run.guarded = GuardedRun(run.tracker, run.tracker.state.policy, self.mode, task=task)
        return run.guarded

    def weigh(self, run: LiveRun) -> None:
        """Take in that a run has grown; those idle longest are put away where all together remember too much."""
        self._runs.weigh(run.tracker.run_id, run.tracker.state.weight)

    def existing_run(self, run_id: str) -> LiveRun | None:
        """Return a run that has had calls."""
        return self._runs.get(run_id)

    def forget_run(self, run_id: str) -> None:
        """Let a run go that has ended."""
        self._runs.pop(run_id)

    def _conversation_run(self, known: OpenSpan, trace_id: str, conversation: str) -> str:
        resource = known.span.resource
        key = (str(resource.attributes.get("service.name", "")) if resource is not None else "", conversation)
        run_id = self._conversations.get(key)
        run = self._runs.get(run_id) if run_id is not None else None
        if run_id is None and self._earlier is not None:
            start_ns = known.span.start_time or 0
            run_id = self._earlier.run_of_conversation(*key, start_ns)
            if run_id is not None:
                self._conversations.put(key, run_id)
                return run_id
        idle_ns = int(self._policies.of(None).run_idle_timeout_seconds * 1e9)
        if run_id is None or run is None or (known.span.start_time or 0) - run.last_ns > idle_ns:
            run_id = trace_id
            self._conversations.put(key, run_id)
        return run_id

    def _run(self, run_id: str, task_type: str | None, *, may_be_older: bool) -> LiveRun:
        run = self._runs.get(run_id)
        if run is None:
            run = LiveRun(RunTracker(run_id, self._policies.of(task_type)))
            answer = self._earlier.recall(run_id) if may_be_older and self._earlier is not None else None
            if answer is not None:
                run.recall = Recall(answer)
            self._runs.put(run_id, run)
        return run


_all: weakref.WeakSet[LiveRuns] = weakref.WeakSet()


def every_live_runs() -> list[LiveRuns]:
    """Return what the span processors of this process know."""
    return list(_all)


def _open_root(span: Any) -> Any:
    span_id = span.get_span_context().span_id
    for runs in every_live_runs():
        with runs.lock:
            root = runs.root_around(span_id)
        if root is not None:
            return root.span
    return None


find_roots.append(_open_root)


def _begin_in_child() -> None:
    for runs in list(_all):
        # The thread that held it may not have come along.
        runs.lock = threading.Lock()


os.register_at_fork(after_in_child=_begin_in_child)
