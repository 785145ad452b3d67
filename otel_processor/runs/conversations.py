"""Conversations whose calls are traces of their own: cut into runs where there was silence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_processor.detection.bounded import RecentMap
from otel_processor.runs.run_facts import Glimpse

StoredRun = tuple[str, int, int]
"""(run id, nanoseconds of its first call's start, of its last call's end)"""

ConversationLookup = Callable[[str, str], Sequence[StoredRun]]
"""(service, conversation id) → the conversation's runs as they are stored."""

_CONVERSATIONS = 10_000

_STRETCHES = 512
"""Runs of one conversation that are remembered, the latest ones."""


@dataclass(slots=True)
class _Stretch:
    """A run of a conversation: from its first call to its last one so far."""

    run_id: str
    first_ns: int
    last_ns: int


class Conversations:
    """Which run a conversation was in at what time; owned by the ledger."""

    def __init__(self, idle_seconds: float, lookup: ConversationLookup | None) -> None:
        self._idle_ns = int(idle_seconds * 1e9)
        self._lookup = lookup
        self._stretches: RecentMap[tuple[str, str], list[_Stretch]] = RecentMap(_CONVERSATIONS)
        self._void: set[str] = set()

    def run_of(self, trace_id: str, seen: Glimpse) -> tuple[str, set[str]]:
        """Return the run of the conversation that was going on, or one that this trace begins and names.

        Returns:
            the run, and the runs that can only be right when decided anew: the call should have begun one of them, or lies
            between two and makes them one.
        """
        key = (seen.service, seen.reading.conversation_id or "")
        stretches = self._known(key)
        near = [s for s in stretches if seen.start_ns - s.last_ns <= self._idle_ns and s.first_ns - seen.end_ns <= self._idle_ns]
        if not near:
            stretches.append(_Stretch(trace_id, seen.start_ns, seen.end_ns))
            del stretches[:-_STRETCHES]
            return trace_id, set()
        first = near[0]
        wrong: set[str] = set()
        if len(near) > 1 or (seen.start_ns, trace_id) < (first.first_ns, first.run_id):
            wrong = {stretch.run_id for stretch in near}
        first.last_ns = max(first.last_ns, seen.end_ns)
        return first.run_id, wrong

    def forget(self, run_ids: set[str], void: set[str]) -> None:
        """Forget runs; those that are void do not come back from the store until `decided`."""
        self._void = void
        for key, stretches in list(self._stretches.items()):
            kept = [stretch for stretch in stretches if stretch.run_id not in run_ids]
            if len(kept) < len(stretches):
                if void:
                    self._stretches.put(key, kept)
                else:
                    self._stretches.pop(key)

    def decided(self) -> None:
        """What the store says of all runs holds again."""
        self._void = set()

    def forget_all(self) -> None:
        """Ask the store again: somebody else may have decided since."""
        self._stretches.clear()

    def _known(self, key: tuple[str, str]) -> list[_Stretch]:
        stretches = self._stretches.get(key)
        if stretches is None:
            stored = self._lookup(*key) if self._lookup is not None else ()
            stretches = sorted((_Stretch(*run) for run in stored if run[0] not in self._void), key=lambda known: known.last_ns)
            self._stretches.put(key, stretches)
        return stretches
