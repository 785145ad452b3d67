"""How often the same call was made since something changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_processor.detection.bounded import RecentMap

_SIGNATURES = 1_024
_REMEMBERED = 8


@dataclass(slots=True)
class Repeats:
    """One signature's count. Its steps and spans are the evidence of a verdict, the latest few of them."""

    count: int = 0
    tolerated: int = 0
    """Transient failures that have not counted so far."""
    steps: list[int] = field(default_factory=list)
    span_ids: list[str] = field(default_factory=list)

    def saw(self, step: int, span_id: str) -> None:
        """Remember where the call was made."""
        self.steps.append(step)
        self.span_ids.append(span_id)
        if len(self.steps) > _REMEMBERED:
            del self.steps[0], self.span_ids[0]


class RepeatCounter:
    """Counts per signature, for one agent of one run; bounded to the signatures used last."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: RecentMap[str, Repeats] = RecentMap(_SIGNATURES)

    def something_changed(self) -> None:
        """Start all counts anew: a call after a change is no repeat of one before it."""
        self._counts.clear()

    def saw(self, signature: str, step: int, span_id: str) -> Repeats:
        """Count a call."""
        entry = self._entry(signature)
        entry.count += 1 + entry.tolerated
        entry.tolerated = 0
        entry.saw(step, span_id)
        return entry

    def saw_tolerated(self, signature: str, step: int, span_id: str) -> Repeats:
        """Note a transient failure that is not held against the agent yet."""
        entry = self._entry(signature)
        entry.tolerated += 1
        entry.saw(step, span_id)
        return entry

    def count(self, signature: str | None) -> int:
        """Return how often this call was made since something changed."""
        entry = self._counts.get(signature) if signature is not None else None
        return entry.count if entry else 0

    def tolerated(self, signature: str) -> int:
        """Return how many failures of this call are being tolerated."""
        entry = self._counts.get(signature)
        return entry.tolerated if entry else 0

    def _entry(self, signature: str) -> Repeats:
        entry = self._counts.get(signature)
        if entry is None:
            entry = Repeats()
            self._counts.put(signature, entry)
        return entry
