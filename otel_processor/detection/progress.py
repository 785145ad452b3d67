"""Whether a tool call brought anything new to its agent."""

from __future__ import annotations

from array import array

from otel_processor.detection.bounded import RecentMap, RecentSet
from otel_processor.detection.fingerprint import changed_chars
from otel_processor.model import Call, Effect
from otel_processor.policy import Policy

# Bounds of what one agent of one run remembers, about 2 MB together at the most.
_FINGERPRINTS = 2_048
_WORDS = 8_192
_SKETCHES = 64
_SIGNATURES = 2_048


class Novelty:
    """What an agent has seen in this run; owned by its `AgentState`."""

    __slots__ = ("_done", "_fingerprints", "_last_sketch", "_words")

    def __init__(self) -> None:
        self._fingerprints: RecentSet[int] = RecentSet(_FINGERPRINTS)
        self._words: RecentSet[int] = RecentSet(_WORDS)
        self._last_sketch: RecentMap[str, array[int]] = RecentMap(_SKETCHES)
        self._done: RecentSet[int] = RecentSet(_SIGNATURES)

    def copy(self) -> Novelty:
        """Return a memory of its own of the same."""
        twin = Novelty()
        twin._fingerprints, twin._words = self._fingerprints.copy(), self._words.copy()
        # A sketch is replaced, never changed.
        twin._last_sketch, twin._done = self._last_sketch.copy(), self._done.copy()
        return twin

    def judge(self, call: Call, policy: Policy, *, repeats: int) -> tuple[bool | None, bool]:
        """Say whether the call is progress (True), flat (False) or unknown (None), and remember what it brought.

        What the agent declared wins. An error is flat. A successful write of something not written before is progress
        whatever it answers. Otherwise the result must be one that was not seen, and either enough of its words are new
        to the run or it differs enough from what the same call brought last. A call that may have changed something (a
        shell command says nothing when it succeeds), or that looks anew after a change (the same tests after an edit), is
        unknown, not flat; so is its failure when it says something that was not said before (a test's non-zero exit).

        Args:
            call: the tool call.
            policy: the thresholds.
            repeats: how often this agent has made this very call since something changed, before this time.

        Returns:
            progress, and whether the agent had not made this very call with success before in the run.
        """
        is_first = False
        if call.signature is not None:
            signature = _short(call.signature)
            is_first = signature not in self._done
            if is_first and not call.reading.is_error and call.error_class is None:
                self._done.add_one(signature)
        return self._judge(call, policy, is_first=is_first, repeats=repeats), is_first

    def _judge(self, call: Call, policy: Policy, *, is_first: bool, repeats: int) -> bool | None:
        was_said = call.evidence is None or _short(call.evidence.fingerprint) in self._fingerprints
        moved = self._brought_news(call, policy)
        failed = call.reading.is_error or call.error_class is not None
        if call.reading.progress_declared is not None:
            return call.reading.progress_declared
        if call.effect is Effect.POLL and not failed and call.evidence is not None:
            # A status that moves in any way is news; one that stands still a few times is what polling is for.
            return True if not was_said else None if repeats < policy.hard_loop_poll_repeats - 1 else False
        may_be_work = call.effect is Effect.UNKNOWN and call.signature is not None and repeats == 0
        if failed:
            return None if may_be_work and not was_said else False
        if is_first and call.effect is Effect.WRITE:
            return True
        return None if may_be_work and not moved else moved

    def _brought_news(self, call: Call, policy: Policy) -> bool | None:
        evidence = call.evidence
        if evidence is None:
            return None
        fingerprint = _short(evidence.fingerprint)
        if fingerprint in self._fingerprints:
            return False
        self._fingerprints.add_one(fingerprint)
        new_words = self._words.count_new(evidence.sketch)
        self._words.add(evidence.sketch)
        moved = new_words > 0 and new_words >= policy.min_new_share * len(evidence.sketch)
        if call.signature is not None:
            last = self._last_sketch.get(call.signature)
            if not moved and last is not None:
                moved = changed_chars(evidence.sketch, last) > policy.min_changed_chars
            self._last_sketch.put(call.signature, array("Q", evidence.sketch))
        return moved


def _short(digest: str) -> int:
    """Return the first 60 bits of a hexadecimal hash: enough to tell a run's results apart, in a third of the memory."""
    return int(digest[:15], 16)
