"""What one agent of a run has done so far."""

from __future__ import annotations

from otel_processor.detection.asking import addressee, argument_text, asks_question, is_similar, long_content
from otel_processor.detection.failing import Failure, Failures, FailureStreak, Said, host_in
from otel_processor.detection.progress import News, Novelty
from otel_processor.detection.repeats import RepeatCounter
from otel_processor.detection.same_failure import SameFailure, SameFailures
from otel_processor.detection.streak import Streak
from otel_processor.detection.trail import Past, Trail
from otel_processor.detection.turns import Turns
from otel_processor.model import Call, Effect

_LEAVES_AS_IT_IS = frozenset({Effect.READ, Effect.POLL})


_LONGEST_NAME = 200


def _name(call: Call) -> str:
    return (call.reading.tool or "")[:_LONGEST_NAME]


class AgentState:
    """The counters of one agent of a run: two sub-agents that make the same first call do not repeat each other."""

    __slots__ = ("failures", "novelty", "repeats", "same_failures", "streak", "trail", "turns")

    def __init__(self) -> None:
        self.novelty = Novelty()
        self.repeats = RepeatCounter()
        self.trail = Trail()
        self.failures = Failures()
        self.same_failures = SameFailures()
        self.streak = Streak()
        self.turns = Turns()

    def copy(self) -> AgentState:
        """Return counters of their own that stand at the same."""
        twin = AgentState()
        for name in AgentState.__slots__:
            setattr(twin, name, getattr(self, name).copy())
        return twin

    @property
    def step(self) -> int:
        """The step that is going on."""
        return self.streak.step

    def past(self, call: Call) -> Past:
        """Return a call as the trail will remember it, before it is known what it brought."""
        reading = call.reading
        tool, arguments = _name(call), reading.arguments
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
            addressee=addressee(arguments) if writes else None,
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
            self.failures.others_changed(_name(call))

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
        tool = _name(call)
        if said is None:
            self.failures.worked(tool)
            if learned and call.effect is not Effect.WRITE:
                self.same_failures.learned()
            elif moved or call.effect is Effect.READ:
                self.same_failures.worked(tool)
            return None, None
        host = host_in(call)
        failure = Failure(self.step, call.span_id, call.signature, call.error_class, said, call.start_ns, call.end_ns, host)
        return self.failures.failed(tool, failure, call.attempts), self.same_failures.take_in(call, said, self.step)

    def did_the_same(self, past: Past, news: News) -> bool:
        """Return whether the call before was nearly this one and answered the same: a program sent again in other words."""
        if news.is_new is not False or len(self.trail) == 0:
            return False
        before = self.trail[-1]
        return before.tool == past.tool and before.fingerprint == past.fingerprint and is_similar(before.asked, past.asked)

    def follows_another(self, call: Call) -> bool:
        """Return whether the call before was another one."""
        return len(self.trail) > 0 and self.trail[-1].signature != call.signature

    def may_have_changed(self, call: Call) -> None:
        """Start the counts of all other calls anew: this one was made before, but may do something each time."""
        self.repeats.keep(call.signature)
        self.trail.something_changed()

    def moved(self) -> None:
        """Progress was made: the streak ends, and what was said before says nothing any more."""
        self.turns.something_new()
        self.streak.moved()
