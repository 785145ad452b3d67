"""What one agent of a run has done so far."""

from __future__ import annotations

from otel_processor.detection.asking import argument_text, asks_question, long_content
from otel_processor.detection.failing import Failure, Failures, FailureStreak, Said
from otel_processor.detection.progress import Novelty
from otel_processor.detection.repeats import RepeatCounter
from otel_processor.detection.same_failure import SameFailure, SameFailures
from otel_processor.detection.trail import Past, Trail
from otel_processor.detection.turns import Turns
from otel_processor.model import Call, Effect

_REMEMBERED = 8
_LEAVES_AS_IT_IS = frozenset({Effect.READ, Effect.POLL})


class AgentState:
    """The counters of one agent of a run: two sub-agents that make the same first call do not repeat each other."""

    __slots__ = (
        "failures",
        "flat_calls",
        "flat_spans",
        "flat_steps",
        "flat_tools",
        "flat_until",
        "novelty",
        "repeats",
        "same_failures",
        "step",
        "step_counted",
        "step_moved",
        "streak",
        "trail",
        "turns",
    )

    def __init__(self) -> None:
        self.novelty = Novelty()
        self.repeats = RepeatCounter()
        self.trail = Trail()
        self.failures = Failures()
        self.turns = Turns()
        self.same_failures = SameFailures()
        self.step = 0
        self.step_moved = False
        self.step_counted = False
        self.streak = 0
        self.flat_calls = 0
        self.flat_until = 0
        self.flat_steps: list[int] = []
        self.flat_spans: list[str] = []
        self.flat_tools: list[str] = []

    def copy(self) -> AgentState:
        """Return counters of their own that stand at the same."""
        twin = AgentState()
        twin.novelty, twin.repeats, twin.trail = self.novelty.copy(), self.repeats.copy(), self.trail.copy()
        twin.turns = self.turns.copy()
        twin.failures, twin.same_failures = self.failures.copy(), self.same_failures.copy()
        twin.step, twin.step_moved, twin.step_counted, twin.streak = self.step, self.step_moved, self.step_counted, self.streak
        twin.flat_calls, twin.flat_until = self.flat_calls, self.flat_until
        # These lists are replaced, never changed.
        twin.flat_steps, twin.flat_spans, twin.flat_tools = self.flat_steps, self.flat_spans, self.flat_tools
        return twin

    def past(self, call: Call) -> Past:
        """Return a call as the trail will remember it, before it is known what it brought."""
        reading = call.reading
        tool, arguments = reading.tool or "", reading.arguments
        writes = call.effect is Effect.WRITE
        return Past(
            self.step,
            call.span_id,
            tool,
            call.effect or Effect.UNKNOWN,
            call.signature,
            "" if arguments is None else argument_text(arguments),
            call.evidence.fingerprint if call.evidence is not None else None,
            failed=reading.is_error or call.error_class is not None,
            is_question=not writes and asks_question(tool, arguments),
            content=long_content(arguments) if writes else None,
        )

    def something_changed(self, call: Call) -> None:
        """Start counts anew: what came before a change says nothing of what comes after it.

        What was read changes nothing for a call that was answered before, only for what an agent may try next; a status that
        moves, or the next page, not even for that.
        """
        if call.effect in _LEAVES_AS_IT_IS:
            self.repeats.forget(call.signature)
        else:
            self.repeats.something_changed()
        if call.effect is not Effect.POLL:
            self.trail.something_changed()
            self.failures.others_changed(call.reading.tool or "")

    def take_failure(
        self, call: Call, said: Said | None, *, moved: bool, learned: bool
    ) -> tuple[FailureStreak | None, SameFailure | None]:
        """Count a failure of a tool, or forget those before where it worked.

        Args:
            call: the tool call.
            said: what its failure says; None where it worked.
            moved: it was progress.
            learned: its result brought something new.
        """
        tool = call.reading.tool or ""
        if said is None:
            self.failures.worked(tool)
            if learned and call.effect is not Effect.WRITE:
                self.same_failures.learned()
            elif moved or call.effect is Effect.READ:
                self.same_failures.worked(tool)
            return None, None
        failure = Failure(self.step, call.span_id, call.signature, call.error_class, said, call.start_ns, call.end_ns)
        return self.failures.failed(tool, failure, call.attempts), self.same_failures.take_in(call, said, self.step)

    def follows_another(self, call: Call) -> bool:
        """Return whether the call before was another one."""
        return len(self.trail) > 0 and self.trail[-1].signature != call.signature

    def may_have_changed(self, call: Call) -> None:
        """Start the counts of all other calls anew: this one was made before, but may do something each time."""
        self.repeats.keep(call.signature)
        self.trail.something_changed()

    def enter(self, step: int) -> None:
        """Begin a step; the one before is closed."""
        self.step = step
        self.step_moved = self.step_counted = False

    def note_flat(self, call: Call) -> None:
        """Count the current step as flat, once, unless another of its calls moved."""
        # One after the other, not side by side: each could have learned from the one before.
        if call.start_ns >= self.flat_until:
            self.flat_calls += 1
            self.flat_until = call.end_ns
        if self.step_moved:
            return
        if not self.step_counted:
            self.step_counted = True
            self.streak += 1
            self.flat_steps = [*self.flat_steps, self.step][-_REMEMBERED:]
        self.flat_spans = [*self.flat_spans, call.span_id][-_REMEMBERED:]
        self.flat_tools = [*self.flat_tools, call.reading.tool or "a tool"][-_REMEMBERED:]

    def note_moved(self) -> None:
        """End the streak."""
        self.turns.something_new()
        self.step_moved = True
        self.streak = self.flat_calls = 0
        self.flat_steps, self.flat_spans, self.flat_tools = [], [], []
