"""Memories that forget: what one run may remember has a bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class RecentMap(Generic[K, V]):
    """A mapping that keeps the `limit` most recently used entries."""

    __slots__ = ("_entries", "_limit")

    def __init__(self, limit: int) -> None:
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._limit = limit

    def get(self, key: K) -> V | None:
        """Return the value and mark it as used, or None."""
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def peek(self, key: K) -> V | None:
        """Return the value without marking it as used, or None."""
        return self._entries.get(key)

    def put(self, key: K, value: V) -> None:
        """Store the value as the most recent one and forget the oldest beyond the limit."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def pop(self, key: K) -> V | None:
        """Remove and return the value, or None."""
        return self._entries.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()

    def copy(self) -> RecentMap[K, V]:
        """Return a mapping of its own with the same entries."""
        twin: RecentMap[K, V] = RecentMap(self._limit)
        twin._entries = self._entries.copy()
        return twin

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def items(self) -> Iterable[tuple[K, V]]:
        """The entries, oldest first."""
        return self._entries.items()

    def values(self) -> Iterable[V]:
        """The values, oldest first."""
        return self._entries.values()


class WeighedMap(RecentMap[K, V]):
    """A mapping that also forgets the entries used longest ago when all together weigh too much."""

    __slots__ = ("_most", "_weights", "put_away", "weight")

    def __init__(self, limit: int, most: int) -> None:
        super().__init__(limit)
        self._most = most
        self._weights: dict[K, int] = {}
        self.weight = 0
        self.put_away = 0
        """Entries that were forgotten because there was no more room."""

    def put(self, key: K, value: V) -> None:
        """Store the value as the most recent one and forget the oldest beyond the limit."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._limit:
            self._forget_oldest()

    def pop(self, key: K) -> V | None:
        """Remove and return the value, or None."""
        self.weight -= self._weights.pop(key, 0)
        return self._entries.pop(key, None)

    def weigh(self, key: K, weight: int) -> None:
        """Say what an entry weighs now; others are forgotten where that is too much."""
        if key not in self._entries:
            return
        self.weight += weight - self._weights.get(key, 0)
        self._weights[key] = weight
        while self.weight > self._most and len(self._entries) > 1:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        key, _ = self._entries.popitem(last=False)
        self.weight -= self._weights.pop(key, 0)
        self.put_away += 1


class RecentSet(Generic[K]):
    """A set that remembers at least the last `limit` members added and at most twice as many.

    Two generations: when the younger is full the older is dropped whole, so that adding stays O(1) without per-member order.
    """

    __slots__ = ("_limit", "_old", "_young")

    def __init__(self, limit: int) -> None:
        self._young: set[K] = set()
        self._old: set[K] = set()
        self._limit = limit

    def add_one(self, member: K) -> None:
        """Remember a member."""
        self._young.add(member)
        if len(self._young) > self._limit:
            self._old, self._young = self._young, set()

    def add(self, members: Iterable[K]) -> None:
        """Remember the members."""
        self._young.update(members)
        if len(self._young) > self._limit:
            self._old, self._young = self._young, set()

    def count_new(self, members: frozenset[K]) -> int:
        """Return how many of `members` are not remembered."""
        unseen = members - self._young
        return len(unseen - self._old) if self._old and unseen else len(unseen)

    def copy(self) -> RecentSet[K]:
        """Return a set of its own with the same members."""
        twin: RecentSet[K] = RecentSet(self._limit)
        twin._young, twin._old = self._young.copy(), self._old.copy()
        return twin

    def __contains__(self, member: K) -> bool:
        return member in self._young or member in self._old

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
