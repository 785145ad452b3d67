"""An agent's streak: how long nothing new has come, in steps and in calls, and where."""

from __future__ import annotations

from otel_processor.detection.progress import tells_much
from otel_processor.model import Call, Effect

_REMEMBERED = 8


class Streak:
    """Owned by its `AgentState`; the latest few places are the evidence of a verdict."""

    __slots__ = (
        "_answer", "_counted", "_moved", "_until", "calls", "same_answer", "span_ids", "step", "step_numbers", "steps", "tools",
    )  # fmt: skip

    def __init__(self) -> None:
        self.step = 0
        """The step that is going on."""
        self.steps = 0
        """Flat steps in a row."""
        self.calls = 0
        """Flat calls in a row, those that were made side by side counted once."""
        self.same_answer: tuple[str, ...] = ()
        """The latest calls in a row that were answered at length and the very same, whatever was asked."""
        # These are replaced, never changed.
        self.step_numbers: tuple[int, ...] = ()
        self.span_ids: tuple[str, ...] = ()
        self.tools: tuple[str, ...] = ()
        self._moved = False
        self._counted = False
        self._until = 0
        self._answer: str | None = None

    def copy(self) -> Streak:
        """Return a streak of its own that stands at the same."""
        twin = Streak()
        for name in Streak.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def enter(self, step: int) -> None:
        """Begin a step; the one before is closed."""
        self.step = step
        self._moved = self._counted = False

    def answered(self, call: Call) -> None:
        """Take in what came back, whatever that meant."""
        answer = call.evidence.fingerprint if call.evidence is not None and tells_much(call) else None
        if answer is None or answer != self._answer or call.effect is Effect.POLL:
            self.same_answer = ()
        self._answer = answer
        if answer is not None:
            self.same_answer = (*self.same_answer, call.span_id)[-_REMEMBERED:]

    def flat(self, call: Call) -> None:
        """Count the current step as flat, once, unless another of its calls moved."""
        # One after the other, not side by side: each could have learned from the one before.
        if call.start_ns >= self._until:
            self.calls += 1
            self._until = call.end_ns
        if self._moved:
            return
        if not self._counted:
            self._counted = True
            self.steps += 1
            self.step_numbers = (*self.step_numbers, self.step)[-_REMEMBERED:]
        self.span_ids = (*self.span_ids, call.span_id)[-_REMEMBERED:]
        self.tools = (*self.tools, call.reading.tool or "a tool")[-_REMEMBERED:]

    def moved(self) -> None:
        """End the streak."""
        self._moved = True
        self.steps = self.calls = 0
        self.step_numbers, self.span_ids, self.tools = (), (), ()
