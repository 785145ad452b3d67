"""Agents that talk with each other: the same positions exchanged turn after turn, whoever states them."""

from __future__ import annotations

from otel_processor.detection.restating import Restating
from otel_processor.detection.turns import thought_of
from otel_processor.model import Pattern, Reading, Verdict
from otel_processor.policy import Policy


class Talk:
    """What the agents of a run said to each other since something new came; owned by its `RunState`."""

    __slots__ = ("_has_several", "_restating", "_speaker")

    def __init__(self) -> None:
        self._restating = Restating()
        self._speaker: str | None = None
        self._has_several = False

    def copy(self) -> Talk:
        """Return a memory of its own of the same."""
        twin = Talk()
        twin._restating = self._restating.copy()
        twin._speaker, twin._has_several = self._speaker, self._has_several
        return twin

    def something_new(self) -> None:
        """Progress was made by one of them."""
        self._restating.something_new()

    def is_other_speaker(self, agent: str) -> bool:
        """Take in who speaks; return whether that is another one than before."""
        before, self._speaker = self._speaker, agent
        is_other = before is not None and before != agent
        self._has_several = self._has_several or is_other
        return is_other

    def turn(self, reading: Reading, *, step: int, span_id: str, policy: Policy) -> Verdict | None:
        """Take in what one of several said; what a single agent says is looked at by its own `Turns`."""
        thought = thought_of(reading)
        if not self._has_several or not thought or Pattern.SEMANTIC_LOOP not in policy.patterns:
            return None
        return self._restating.turn(thought, step=step, span_id=span_id, policy=policy)
