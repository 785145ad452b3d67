"""Whether a tool call brought anything new to its agent."""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Callable
from typing import NamedTuple

from otel_processor.detection.asking import Asked
from otel_processor.detection.bounded import RecentMap, RecentSet
from otel_processor.detection.effects import effect_of, keeps_notes
from otel_processor.detection.failing import Said
from otel_processor.detection.fingerprint import changed_chars, result_text, without_ids
from otel_processor.detection.trail import Past
from otel_processor.model import Call, Effect
from otel_processor.policy import Policy

# Bounds of what one agent of one run remembers, about 2 MB together at the most.
_FINGERPRINTS = 2_048
_WORDS = 6_144
_SKETCHES = 64
_SIGNATURES = 2_048
_WRITTEN = 1_024

_WORDLESS_CHARS = 5
"""Characters from which an answer without words shows something."""

LEAST_NEW, MOST_NEW = 0.3, 5.0
"""Times `policy.min_new_share` that the answer to another question must bring to be new, and that to the same question in the
same words in another order."""


class News(NamedTuple):
    """What a result brought, before it is asked what that means for the run."""

    is_new: bool | None
    """Enough of it was not seen before in the run, or it moved far; None without a result."""
    was_seen: bool
    """The run had this very result before, or there is none."""
    stirred: bool
    """It is another one than the same call brought last, if only by a word; ids and what is masked do not count."""
    is_first: bool
    """The agent had not made this very call with success before."""
    is_back: bool = False
    """The run had it before, but the same call brought something else last: a value that goes to and fro, or a time."""


class Novelty:
    """What an agent has seen in this run; owned by its `AgentState`."""

    __slots__ = ("_done", "_fingerprints", "_last_result", "_last_sketch", "_words", "_written")

    def __init__(self) -> None:
        self._fingerprints: RecentSet[int] = RecentSet(_FINGERPRINTS)
        self._words: RecentSet[int] = RecentSet(_WORDS)
        self._last_sketch: RecentMap[str, array[int]] = RecentMap(_SKETCHES)
        self._done: RecentSet[int] = RecentSet(_SIGNATURES)
        self._written: RecentSet[int] = RecentSet(_WRITTEN)
        self._last_result: frozenset[int] | None = None

    def copy(self) -> Novelty:
        """Return a memory of its own of the same."""
        twin = Novelty()
        twin._fingerprints, twin._words = self._fingerprints.copy(), self._words.copy()
        # A sketch is replaced, never changed.
        twin._last_sketch, twin._done = self._last_sketch.copy(), self._done.copy()
        twin._written, twin._last_result = self._written.copy(), self._last_result
        return twin

    def look(self, call: Call, policy: Policy, *, how_new: Callable[[], float]) -> News:
        """Say what the call's result brought, and remember it.

        Args:
            call: the tool call.
            policy: the thresholds.
            how_new: says how many times `policy.min_new_share` the answer must bring, by what was asked before.
        """
        is_first = False
        if call.signature is not None:
            signature = _short(call.signature)
            is_first = signature not in self._done
            if is_first and not call.reading.is_error and call.error_class is None:
                self._done.add_one(signature)
        evidence = call.evidence
        if evidence is None:
            return News(None, was_seen=True, stirred=False, is_first=is_first)
        fingerprint = _short(evidence.fingerprint)
        was_seen = fingerprint in self._fingerprints
        self._fingerprints.add_one(fingerprint)
        last = self._last_sketch.get(call.signature) if call.signature is not None else None
        shown: frozenset[int] = evidence.sketch
        if not shown and evidence.length >= _WORDLESS_CHARS and call.effect is not Effect.WRITE:
            # The time, or a new id, may be what was asked for; what a write answers is a receipt.
            shown = frozenset({_short(evidence.raw_hash)})
        is_back = was_seen and last is not None and shown != frozenset(last)
        if call.signature is not None and (last is None or is_back or not was_seen):
            self._last_sketch.put(call.signature, array("Q", shown))
        if policy.progress_rule == "changed":
            before, self._last_result = self._last_result, evidence.sketch
            moved = (
                before is None
                or changed_chars(evidence.sketch, before) + changed_chars(before, evidence.sketch) > policy.min_changed_chars
            )
            return News(moved, was_seen, stirred=moved, is_first=is_first)
        if was_seen:
            return News(False, was_seen=True, stirred=False, is_first=is_first, is_back=is_back)
        if not evidence.sketch and evidence.length >= _WORDLESS_CHARS:
            # A board drawn with signs: it is another one.
            return News(True, was_seen=False, stirred=True, is_first=is_first)
        return self._compare(evidence.sketch, last, policy, how_new, is_first=is_first)

    def _compare(
        self, sketch: frozenset[int], last: array[int] | None, policy: Policy, how_new: Callable[[], float], *, is_first: bool
    ) -> News:
        told = sketch if last is None else without_ids(sketch)
        new_words = self._words.count_new(told)
        self._words.add(sketch)
        needed = policy.min_new_share * len(sketch)
        is_new = new_words > 0 and new_words >= needed
        if last is None and new_words > 1 and LEAST_NEW * needed <= new_words < MOST_NEW * needed:
            # Asked about another thing, a few new words among many of the form are the answer; asked again, they are not.
            is_new = new_words >= how_new() * needed
        changed = changed_chars(sketch, last) if last is not None else 0
        if last is not None and not is_new:
            is_new = changed > policy.min_changed_chars
        return News(is_new, was_seen=False, stirred=changed > 0, is_first=is_first)

    @property
    def weight(self) -> int:
        """How much is remembered, in words; each takes some 70 bytes."""
        return len(self._words)

    def writes_new(self, asked: Asked) -> bool:
        """Say whether a write's arguments hold a word that the agent did not write before, and remember them."""
        words = frozenset(zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in asked.words | asked.numbers)
        new = not words or self._written.count_new(words) > 0
        self._written.add(words)
        return new


def judge(
    call: Call,
    news: News,
    policy: Policy,
    *,
    repeats: int,
    writes_new: bool,
    past: Past,
    asks_another: Callable[[], bool],
    said: Said | None,
) -> bool | None:
    """Say whether a call is progress (True), flat (False) or unknown (None).

    What the agent declared wins. An error is flat. A successful write of something not written before is progress
    whatever it answers, unless it is a note to itself. Otherwise the result must be new. A call that may have changed
    something (a shell command says nothing when it succeeds, and looks at a part of what it printed before), or that looks
    anew after a change (the same tests after an edit), is unknown, not flat; so is its failure when it says something that
    was not said before (a test's non-zero exit).

    Args:
        call: the tool call.
        news: what its result brought.
        policy: the thresholds.
        repeats: how often this agent has made this very call since something changed, before this time.
        writes_new: its arguments hold something that was not written before.
        past: the call as the trail will remember it.
        asks_another: says whether it asks for another thing than the calls before it.
        said: what its failure says; None where it worked.
    """
    declared = call.reading.progress_declared
    if declared is not None or policy.progress_rule == "declared":
        return declared
    failed = said is not None
    if policy.progress_rule == "changed":
        return False if failed else news.is_new
    if call.effect is Effect.POLL and not failed and news.is_new is not None:
        # A status that moves in any way is news; one that stands still a few times is what polling is for.
        return True if not news.was_seen else None if repeats < policy.hard_loop_poll_repeats - 1 else False
    is_open = call.effect is Effect.UNKNOWN or (
        call.effect is Effect.READ and effect_of(call.reading.tool or "") is Effect.UNKNOWN
    )
    may_be_work = is_open and call.signature is not None and (repeats == 0 or (news.is_first and said is None))
    if said is not None:
        # A failure that says nothing may be the answer: `grep` ends so when there is no match.
        return None if news.is_new or (may_be_work and (not news.was_seen or not said.words)) else False
    if call.effect is Effect.WRITE and keeps_notes(call.reading.tool or "", call.reading.arguments):
        return None if news.is_first else False
    if call.effect is Effect.WRITE and news.is_first:
        # What was written before in other words may still be work; it does not start all counts anew.
        return True if writes_new else None
    if news.is_new is False and news.is_first and past.is_question and tells_much(call) and call.effect is Effect.UNKNOWN:
        # It was asked, answered at length and said nothing new: whatever it may do, it told the agent what it knew.
        return False
    if (_is_answer(call, news, past) or _is_of_a_list(call, news, past)) and asks_another():
        # "sunny" for another city, or none in stock of another article: the agent knows something that it did not.
        return None
    moves = (news.stirred or news.is_back) and repeats < policy.hard_loop_poll_repeats - 1
    if news.is_new is False and (may_be_work or moves):
        return None
    return news.is_new


MUCH_CHARS = 100
"""Characters from which an answer may have taught the agent something that it can use elsewhere."""


def tells_much(call: Call) -> bool:
    """Return whether an answer is more than a receipt."""
    return call.evidence is not None and call.evidence.length >= MUCH_CHARS


_VALUE_WORDS = 3

_NOTHING = re.compile(
    r"^[\W_]*$|\b(?:no|not|none|null|nil|nothing|zero|0|empty|without|false|sin|ning[uú]n\w*|nada|aucune?|rien|keine?\w*|nichts"
    r"|nenhum\w*|n/a)\b|没有|未找到|无结果",
    re.IGNORECASE,
)
"""What says that there is nothing: the next question that has no answer brings nothing new either."""


def _is_answer(call: Call, news: News, past: Past) -> bool:
    """Return whether a look-up, made for the first time, answers with a value that was an answer before.

    Hits of a search are no values, and a sentence that is the same for each thing is a message.
    """
    if not _may_be_answer(call, news, past):
        return False
    text = _answer_of(call)
    return len(text.split()) <= _VALUE_WORDS and _NOTHING.search(text) is None


def _may_be_answer(call: Call, news: News, past: Past) -> bool:
    is_look_up = call.effect is Effect.READ and not past.is_question
    return is_look_up and news.is_new is False and news.is_first and not tells_much(call)


def _answer_of(call: Call) -> str:
    return "" if call.reading.result is None else result_text(call.reading.result)[:MUCH_CHARS]


def _is_of_a_list(call: Call, news: News, past: Past) -> bool:
    """Return whether a look-up names by keys what it is about, no two words together: one of many things, each of which may
    well have the value of the one before it, also that there is none. A search that finds nothing is none of them.
    """
    arguments = call.reading.arguments
    if not _may_be_answer(call, news, past) or len(_answer_of(call).split()) > _VALUE_WORDS:
        return False
    return type(arguments) is dict and not any(type(value) is str and _BLANK.search(value) for value in arguments.values())


_BLANK = re.compile(r"\s")


def _short(digest: str) -> int:
    """Return the first 60 bits of a hexadecimal hash: enough to tell a run's results apart, in a third of the memory."""
    return int(digest[:15], 16)
