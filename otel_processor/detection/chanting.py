"""semantic_loop, from what is said: one message again and again, or a few sentences over and over inside of one message."""

from __future__ import annotations

import re
import zlib

from otel_processor.detection.spaceless import LETTERS
from otel_processor.detection.speech import excerpt, own_words
from otel_processor.detection.stop_words import STOP_WORDS
from otel_processor.model import Action, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

LEAST_WORDS = 5
"""Words of a message that is worth comparing; `OK, done.` may well be said three times."""

LEAST_SENTENCES = 9
"""Sentences of a message that can be a chant."""

ROUNDS = 3
"""Times that a message's sentences come on average, from which it is a chant."""

_REMEMBERED = 8
_EXCERPT_CHARS = 80
_ENDS_CHARS = 2_000
_MARKS = (".", "!", "?", "\u3002", "\uff01", "\uff1f")
_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")


class Echo:
    """How often in a row one agent gave the same message without doing anything in between."""

    __slots__ = ("_digest", "_said", "_times")

    def __init__(self) -> None:
        self._digest = 0
        self._times = 0
        self._said: tuple[tuple[int, str], ...] = ()

    def copy(self) -> Echo:
        """Return a memory of its own of the same message."""
        twin = Echo()
        twin._digest, twin._times, twin._said = self._digest, self._times, self._said
        return twin

    def forget(self) -> None:
        """Begin anew: the agent did something."""
        self._digest, self._times, self._said = 0, 0, ()

    def turn(self, text: str, *, step: int, span_id: str, policy: Policy) -> Verdict | None:
        """Take in a message; return a verdict when it came `policy.hard_loop_repeats` times in a row."""
        # With its code: a message that comes with another program is another one.
        ends = f"{len(text)} {text[:_ENDS_CHARS]} {text[-_ENDS_CHARS:]}"
        digest = zlib.crc32(ends.encode("utf-8", "surrogatepass"))
        if digest != self._digest:
            self._digest, self._times, self._said = digest, 0, ()
        self._times += 1
        self._said = (*self._said, (step, span_id))[-_REMEMBERED:]
        if self._times < policy.hard_loop_repeats or not _is_worth_comparing(own_words(text)):
            return None
        again = excerpt(text, _EXCERPT_CHARS)
        message = f"the agent gave the same message {self._times} times in a row and did nothing in between: {again}"
        return _verdict(message, [step for step, _ in self._said], [span_id for _, span_id in self._said], again)


def _is_worth_comparing(said: str) -> bool:
    return len(said.split()) >= LEAST_WORDS or sum(map(len, LETTERS.findall(said))) >= 2 * LEAST_WORDS


def find_chant(said: str, *, step: int, span_id: str) -> Verdict | None:
    """Return a verdict when a message is a few sentences over and over.

    A sentence ends with its mark and has a word that connects: the lines of tables, lists and logs are none. Numbers tell
    sentences apart.
    """
    sentences = _END.split(said)
    if len(sentences) < LEAST_SENTENCES or len(set(sentences)) * 2 > len(sentences):
        return None
    sentences = [" ".join(sentence.lower().split()) for sentence in sentences if sentence.endswith(_MARKS)]
    sentences = [sentence for sentence in sentences if LETTERS.search(sentence) or not STOP_WORDS.isdisjoint(sentence.split())]
    different = list(dict.fromkeys(sentences))
    if len(sentences) < LEAST_SENTENCES or len(different) * ROUNDS > len(sentences):
        return None
    again = excerpt(max(different, key=sentences.count), _EXCERPT_CHARS)
    message = f"one message says {len(different)} sentences over and over, {len(sentences)} in all: {again}"
    return _verdict(message, [step], [span_id], again)


def _verdict(message: str, steps: list[int], span_ids: list[str], again: str) -> Verdict:
    return Verdict(
        pattern=Pattern.SEMANTIC_LOOP,
        action=Action.STOP,
        stop_reason=StopReason.SEMANTIC,
        severity="critical",
        message=message,
        evidence={"steps": steps, "span_ids": span_ids, "said_again": again},
    )
