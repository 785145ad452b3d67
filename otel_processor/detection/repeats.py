"""How often the same call was made since something changed."""

from __future__ import annotations

from otel_processor.detection.bounded import RecentMap

_SIGNATURES = 512
_REMEMBERED = 8


class Repeats:
    """One signature's count. Where it was called is the evidence of a verdict, the latest few places of it.

    `failures` counts transient failures in a row, `uncounted` those of them that were tolerated: they count once there are
    too many. `answered` says that one of the counted calls did not fail. `places` holds (step, span id).
    """

    __slots__ = ("answered", "count", "failures", "places", "stirred", "uncounted")

    def __init__(self) -> None:
        self.answered = False
        self.count = 0
        self.failures = 0
        self.uncounted = 0
        self.stirred = 0
        self.places: list[tuple[int, str]] = []

    def copy(self) -> Repeats:
        """Return a count of its own with the same numbers."""
        twin = Repeats()
        twin.count, twin.failures, twin.uncounted = self.count, self.failures, self.uncounted
        twin.answered, twin.stirred, twin.places = self.answered, self.stirred, self.places.copy()
        return twin

    def once_more(self) -> Repeats:
        """Return what the count would be after one more call, this one left as it is."""
        twin = self.copy()
        twin.count += 1 + twin.uncounted
        return twin

    def saw(self, step: int, span_id: str, *, failed: bool) -> None:
        """Count a call that met no transient failure: those before it are forgiven."""
        self.answered = self.answered or not failed
        self.count += 1
        self.failures = self.uncounted = 0
        self._remember(step, span_id)

    def saw_stir(self, step: int, span_id: str, *, failed: bool) -> None:
        """Take in that the answer moved a little: no news yet, but no repeat either."""
        self.stirred += 1
        self.count = 0
        self.answered = False
        self.places.clear()
        self.saw(step, span_id, failed=failed)

    def saw_failure(self, step: int, span_id: str, *, tolerated: bool) -> None:
        """Take in a transient failure: the first few are not held against the agent, then all of them are."""
        self.failures += 1
        self.uncounted += 1
        if not tolerated:
            self.count += self.uncounted
            self.uncounted = 0
        self._remember(step, span_id)

    def _remember(self, step: int, span_id: str) -> None:
        self.places.append((step, span_id))
        if len(self.places) > _REMEMBERED:
            del self.places[0]


class RepeatCounter:
    """Counts per signature, for one agent of one run; bounded to the signatures used last."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: RecentMap[str, Repeats] = RecentMap(_SIGNATURES)

    def copy(self) -> RepeatCounter:
        """Return a counter of its own with the same counts."""
        twin = RepeatCounter()
        for signature, entry in self._counts.items():
            twin._counts.put(signature, entry.copy())
        return twin

    def something_changed(self) -> None:
        """Start all counts anew: a call after a change is no repeat of one before it."""
        self._counts.clear()

    def forget(self, signature: str | None) -> None:
        """Start the count of one call anew."""
        if signature is not None:
            self._counts.pop(signature)

    def keep(self, signature: str | None) -> None:
        """Forget all counts but that of one call."""
        entry = self._counts.peek(signature) if signature is not None else None
        self._counts.clear()
        if entry is not None and signature is not None:
            self._counts.put(signature, entry)

    def find(self, signature: str | None) -> Repeats | None:
        """Return the count of a call that was made since something changed."""
        return self._counts.get(signature) if signature is not None else None

    def peek(self, signature: str | None) -> Repeats | None:
        """Return the same without marking it as used."""
        return self._counts.peek(signature) if signature is not None else None

    def begin(self, signature: str) -> Repeats:
        """Return a new count for a call that was not made since something changed."""
        entry = Repeats()
        self._counts.put(signature, entry)
        return entry

    def only(self, signature: str) -> Repeats:
        """Return the count of this call and forget all others: they are no longer in a row."""
        entry = self._counts.get(signature)
        self._counts.clear()
        if entry is None:
            return self.begin(signature)
        self._counts.put(signature, entry)
        return entry
