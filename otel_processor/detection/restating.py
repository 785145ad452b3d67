"""semantic_loop, from what is said: plans restated and facts put together anew, turn after turn."""

from __future__ import annotations

import re
import zlib
from array import array
from itertools import pairwise
from typing import NamedTuple

from otel_processor.detection.spaceless import part
from otel_processor.detection.speech import excerpt, own_words
from otel_processor.detection.stop_words import STOP_WORDS
from otel_processor.model import Action, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

LEAST_WORDS = 8
"""Different content words that a turn must have: `Running the tests again.` is routine and no evidence either way."""

LEAST_PAIRS = 0.2
"""Share of a turn's pairs of neighbouring content words that were said before: two turns about one thing share its words,
and only a restatement also puts them together in the same way."""

_LONGEST_WINDOW = 64
_EXCERPT_CHARS = 200
_STEM_CHARS = 5
_SENTENCES = 40

# Everything but letters, digits and non-ASCII bytes separates words.
_WORDS_ONLY = bytes(c if chr(c).isalnum() or c >= 0x80 else 0x20 for c in range(256))
# Small numbers count steps and attempts; a larger one is what is talked about.
_UNTOLD = frozenset(word.encode() for word in STOP_WORDS) | frozenset(b"%d" % number for number in range(100))
_NUMBERED = re.compile(rb"[0-9]")
_SENTENCE_END = re.compile(r"(?<=\D[.!?])\s+|[\u3002\uff01\uff1f\uff1b\n]+")


class _Turn(NamedTuple):
    step: int
    span_id: str
    words: array[int]
    pairs: array[int]
    similarity: float
    is_repeat: bool


class Restating:
    """What one agent said in its latest turns since something new came: hashes of at most 64 turns, bounded in length.

    Only turns with enough content words are kept. Work per turn depends on the window, not on how long the run is.
    """

    __slots__ = ("_turns",)

    def __init__(self) -> None:
        self._turns: tuple[_Turn, ...] = ()

    def copy(self) -> Restating:
        """Return a memory of its own of the same turns."""
        twin = Restating()
        # The tuple is replaced, never changed.
        twin._turns = self._turns
        return twin

    def something_new(self) -> None:
        """Forget what was said: something new came since, and a plan may well be stated again with it."""
        self._turns = ()

    def turn(self, text: str, *, step: int, span_id: str, policy: Policy) -> Verdict | None:
        """Take in what the agent said in a turn; return a verdict when too many turns of the window say nothing new.

        Content words are compared, without code, small numbers and the words that only connect. A turn says again what was
        said when `policy.semantic_similarity` of its words, and enough of its pairs of words, stand in the earlier turns of
        the window, whichever of them, and it names no number or identifier that they do not name: the same report on another
        order is work.

        Args:
            text: reasoning and assistant text of the turn.
            step: the turn's number.
            span_id: the model call's span.
            policy: the window, how many of its turns must repeat, and how much of each.
        """
        if not text or text.isspace():
            return None
        said = own_words(text)
        spoken, characters = _content_words(said)
        told = _hashes(spoken)
        words = frozenset(told)
        if len(words) - characters // 2 < LEAST_WORDS:
            return None
        pairs = frozenset(map(hash, pairwise(told)))
        earlier = self._turns[1 - min(policy.semantic_window, _LONGEST_WINDOW) :]
        similarity = _known(words, [turn.words for turn in earlier])
        is_repeat = (
            bool(earlier)
            and similarity >= policy.semantic_similarity
            and _known(pairs, [turn.pairs for turn in earlier]) >= LEAST_PAIRS
            and not _names_another(spoken, earlier)
        )
        self._turns = (*earlier, _Turn(step, span_id, array("I", words), array("q", pairs), similarity, is_repeat))
        repeats = [turn for turn in self._turns if turn.is_repeat]
        if not is_repeat or len(repeats) < policy.semantic_repeats:
            return None
        return _verdict(repeats, len(self._turns), _said_again(said, earlier))


def _content_words(text: str) -> tuple[list[bytes], int]:
    """Return the words that carry content, in order, and how many of them are pairs of characters, two of which are a word."""
    text, pairs = part(text.lower())
    words = [word for word in text.encode("utf-8", "surrogatepass").translate(_WORDS_ONLY).split() if word not in _UNTOLD]
    # Where words are written with other letters they mostly change at their ends, as in Russian.
    words = [word if word.isascii() else _stem(word) for word in words]
    words += [pair.encode() for pair in pairs]
    return words, len(pairs)


def _stem(word: bytes) -> bytes:
    return word.decode("utf-8", "surrogatepass")[:_STEM_CHARS].encode("utf-8", "surrogatepass")


def _hashes(words: list[bytes]) -> list[int]:
    # CRC-32 and not `hash` of a text: verdicts must be the same in every process.
    return list(map(zlib.crc32, words))


def _known(mine: frozenset[int], earlier: list[array[int]]) -> float:
    """Return the share of `mine` that stands in any of the earlier turns."""
    return 1 - len(mine.difference(*earlier)) / len(mine) if earlier and mine else 0.0


def _names_another(spoken: list[bytes], earlier: tuple[_Turn, ...]) -> bool:
    named = frozenset(_hashes([word for word in spoken if _NUMBERED.search(word)]))
    return bool(named.difference(*(turn.words for turn in earlier)))


def _said_again(text: str, earlier: tuple[_Turn, ...]) -> str:
    """Return the sentence of a turn that holds most of what was said before, in one line of at most 200 characters."""
    before = frozenset[int]().union(*(turn.words for turn in earlier))
    best, most = "", 0.0
    for sentence in _SENTENCE_END.split(text, _SENTENCES):
        words = frozenset(_hashes(_content_words(sentence)[0]))
        known = len(words & before) ** 2 / max(len(words), 1)
        if known > most:
            best, most = sentence, known
    return excerpt(best, _EXCERPT_CHARS)


def _verdict(repeats: list[_Turn], turns: int, again: str) -> Verdict:
    return Verdict(
        pattern=Pattern.SEMANTIC_LOOP,
        action=Action.STOP,
        stop_reason=StopReason.SEMANTIC,
        severity="critical",
        message=f"{len(repeats)} of the last {turns} turns only said again what had been said before: {excerpt(again, 80)}",
        evidence={
            "steps": [turn.step for turn in repeats],
            "span_ids": [turn.span_id for turn in repeats],
            "similarities": [round(turn.similarity, 2) for turn in repeats],
            "said_again": again,
        },
    )
