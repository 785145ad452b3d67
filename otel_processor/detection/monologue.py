"""semantic_loop by exact words: the same sentence over and over in one answer, or the same answer turn after turn."""

from __future__ import annotations

import re
import zlib
from collections import Counter

from otel_processor.detection.masking import mask_volatile
from otel_processor.model import Action, Pattern, StopReason, Verdict

LOOKED_AT_CHARS = 16_000
"""Of an answer; one that is longer is looked at from its end, where a chant goes on."""

_EQUAL_TURNS = 3
_SENTENCE_TIMES = 5
_SENTENCE_CHARS = 16
_LEAST_SHARE = 0.5

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# A run of marks is looked at once, from its beginning: a line of dots without a space after it would take long otherwise.
_SENTENCES = re.compile(r"(?<![.!?\u3002\uff01\uff1f])[.!?\u3002\uff01\uff1f]+\s+|\n+|[\u3002\uff01\uff1f]")


class Monologue:
    """What an agent said last, as hashes; owned by its `AgentState`. A tool call in between is no monologue."""

    __slots__ = ("_last", "_places")

    def __init__(self) -> None:
        self._last: int | None = None
        self._places: tuple[tuple[int, str], ...] = ()

    def copy(self) -> Monologue:
        """Return a memory of its own of the same."""
        twin = Monologue()
        twin._last, twin._places = self._last, self._places
        return twin

    def acted(self) -> None:
        """A tool was called: what is said next answers something."""
        self._last, self._places = None, ()

    def turn(self, text: str, *, step: int, span_id: str) -> Verdict | None:
        """Take in what was said, and return a verdict where it was said often enough.

        Args:
            text: the answer.
            step: its step.
            span_id: its span.
        """
        words = " ".join(text[-LOOKED_AT_CHARS:].split()).lower()
        if len(words) < _SENTENCE_CHARS:
            return None
        said = zlib.crc32(mask_volatile(words).encode("utf-8", "surrogatepass"))
        self._places = (*self._places, (step, span_id))[-8:] if said == self._last else ((step, span_id),)
        self._last = said
        if len(self._places) >= _EQUAL_TURNS:
            times = len(self._places)
            return _verdict(
                f"the same answer was given {times} turns in a row, with no tool call in between", words, self._places
            )
        chant = most_repeated(text)
        if chant is not None:
            return _verdict(f"one answer says the same sentence {chant[1]} times", chant[0], ((step, span_id),))
        return None


def most_repeated(text: str) -> tuple[str, int] | None:
    """Return the sentence that makes up half of an answer by being said again and again, and how often it is said.

    Code is left out: rows and braces repeat there by nature. So are lines without words.
    """
    if len(text) < _SENTENCE_TIMES * _SENTENCE_CHARS:
        return None
    plain = text[-LOOKED_AT_CHARS:]
    parts = _SENTENCES.split(_CODE.sub("\n", plain) if "```" in plain else plain)
    if len(parts) < _SENTENCE_TIMES:
        return None
    sentences = [" ".join(sentence.split()).lower() for sentence in parts]
    counted = Counter(each for each in sentences if len(each) >= _SENTENCE_CHARS and len(set(each)) > 4)
    if not counted:
        return None
    sentence, times = counted.most_common(1)[0]
    repeated = sum(len(each) * count for each, count in counted.items() if count >= _SENTENCE_TIMES)
    whole = sum(len(each) for each in sentences)
    return (sentence, times) if times >= _SENTENCE_TIMES and repeated >= _LEAST_SHARE * whole else None


def _verdict(message: str, excerpt: str, places: tuple[tuple[int, str], ...]) -> Verdict:
    return Verdict(
        pattern=Pattern.SEMANTIC_LOOP,
        action=Action.STOP,
        stop_reason=StopReason.SEMANTIC,
        severity="critical",
        message=message,
        evidence={
            "said": excerpt[:200],
            "times": len(places),
            "steps": [step for step, _ in places],
            "span_ids": [span_id for _, span_id in places],
        },
    )
