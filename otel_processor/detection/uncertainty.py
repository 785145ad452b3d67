"""uncertainty: an agent that is less sure with each turn."""

from __future__ import annotations

from typing import NamedTuple

from otel_processor.detection.lexicon import hedges
from otel_processor.detection.speech import own_words
from otel_processor.model import Action, Pattern, Verdict
from otel_processor.policy import Policy

LEAST_WORDS = 8
"""Words of a turn from which its share says anything; in a shorter one a single word is a jump."""

LEAST_HEDGES = 3
"""Hedging words of the last turn; one or two come by chance."""

LEAST_SHARE = 0.06
"""Share of hedging words in the last turn; careful people hedge two or three words in a hundred."""

LEAST_GROWTH = 2.0
"""Times the first turn's share that the last one has."""

_REMEMBERED = 16
_PHRASES = 12


class _Turn(NamedTuple):
    step: int
    span_id: str
    share: float
    language: str
    phrases: tuple[str, ...]


class Hedging:
    """The turns of one agent whose share of hedging words has been rising, the latest 16 of them."""

    __slots__ = ("_rising",)

    def __init__(self) -> None:
        self._rising: tuple[_Turn, ...] = ()

    def copy(self) -> Hedging:
        """Return a memory of its own of the same turns."""
        twin = Hedging()
        # The tuple is replaced, never changed.
        twin._rising = self._rising
        return twin

    def turn(self, text: str, *, step: int, span_id: str, policy: Policy) -> Verdict | None:
        """Take in what the agent said in a turn; return a verdict when its doubt has risen turn after turn.

        Code and quoted lines do not count, nor does a turn of fewer than eight words. Of the last `policy.uncertainty_turns`
        turns each must hedge, with a larger share of its words than the turn before; the last one at least twice as much as
        the first, and not by a word or two.

        Args:
            text: reasoning and assistant text of the turn.
            step: the turn's number.
            span_id: the model call's span.
            policy: says how many turns.
        """
        if not text or text.isspace():
            return None
        found = hedges().find(own_words(text).lower(), least=LEAST_WORDS)
        if found is None:
            return None
        if not found.length:
            self._rising = ()
            return None
        said = _Turn(step, span_id, found.length / found.total, found.language, found.phrases[:_PHRASES])
        rises = bool(self._rising) and said.share > self._rising[-1].share
        needed = min(policy.uncertainty_turns, _REMEMBERED)
        self._rising = (*self._rising, said)[-needed:] if rises else (said,)
        if len(self._rising) < needed or found.length < LEAST_HEDGES:
            return None
        return _verdict(self._rising) if said.share >= max(LEAST_SHARE, LEAST_GROWTH * self._rising[0].share) else None


def _verdict(turns: tuple[_Turn, ...]) -> Verdict:
    shares = [round(turn.share, 3) for turn in turns]
    first, last = round(100 * turns[0].share), round(100 * turns[-1].share)
    return Verdict(
        pattern=Pattern.UNCERTAINTY,
        action=Action.COMPRESS,
        stop_reason=None,
        severity="warning",
        message=f"the agent has become less sure {len(turns)} turns in a row: hedging went from {first}% to {last}% of its words",
        evidence={
            "steps": [turn.step for turn in turns],
            "span_ids": [turn.span_id for turn in turns],
            "shares": shares,
            "hedges": list(dict.fromkeys(phrase for turn in turns for phrase in turn.phrases))[:_PHRASES],
            "language": turns[-1].language,
        },
    )
