"""What an agent says, turn after turn: three detectors over its text."""

from __future__ import annotations

from collections.abc import Iterator

from otel_processor.detection.monologue import Monologue
from otel_processor.detection.restating import Restating
from otel_processor.detection.uncertainty import Hedging
from otel_processor.model import Pattern, Reading, Verdict
from otel_processor.policy import Policy


def thought_of(reading: Reading) -> str:
    """Return what a model thought and said, as one text."""
    said = reading.text or ""
    return f"{reading.reasoning}\n{said}" if reading.reasoning else said


class Turns:
    """What was said lately; owned by its `AgentState`."""

    __slots__ = ("_hedging", "_monologue", "_restating")

    def __init__(self) -> None:
        self._monologue = Monologue()
        self._restating = Restating()
        self._hedging = Hedging()

    def copy(self) -> Turns:
        """Return a memory of its own of the same."""
        twin = Turns()
        twin._monologue, twin._restating, twin._hedging = self._monologue.copy(), self._restating.copy(), self._hedging.copy()
        return twin

    def acted(self) -> None:
        """A tool was called: what is said next answers something."""
        self._monologue.acted()

    def something_new(self) -> None:
        """Progress was made, or there is reason to wait: saying the same again is no sign of anything."""
        self._restating.something_new()

    def turn(self, reading: Reading, *, step: int, span_id: str, policy: Policy) -> Iterator[Verdict | None]:
        """Take in what a model said, and give what is held against it."""
        said, thought = reading.text or "", thought_of(reading)
        if not thought:
            return
        if Pattern.SEMANTIC_LOOP in policy.patterns:
            if said:
                yield self._monologue.turn(said, step=step, span_id=span_id)
            yield self._restating.turn(thought, step=step, span_id=span_id, policy=policy)
        if Pattern.UNCERTAINTY in policy.patterns:
            yield self._hedging.turn(thought, step=step, span_id=span_id, policy=policy)
