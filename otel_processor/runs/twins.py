"""Calls that a span and a log record tell: they are found in pairs, and each counts once.

Where both carry an id, that decides; else the record and the span that end nearest to each other, within two seconds. The
pairs are the same in whatever order they come: the nearest two first, then the nearest of those that are left.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from otel_processor.dialects.log_records import TELLING_DIALECTS
from otel_processor.model import LogPart, Role
from otel_processor.runs.entry import Entry, Key
from otel_processor.runs.records import ReadSpan
from otel_processor.runs.same_call import told_together

_NEAR_NS: Final = 2_000_000_000
"""Between the ends of a span and of a record of one call that share no id: records come a bit later, and in milliseconds."""

_SAME_ID_NS: Final = 600_000_000_000
"""The same where they share one: hooks run between the two, and there are servers that use ids again."""

_KEPT: Final = 64
"""Calls before that are remembered on either side. One that is later than those has the run decided anew anyway."""

_USAGE: Final = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "reasoning_tokens",
)  # fmt: skip

Distance = tuple[bool, bool, int, Key, Key]
"""Without a common id, with other tokens, nanoseconds between the ends, and the keys of both for the rest."""


@dataclass(slots=True)
class _Side:
    """What is remembered of a call that may have a twin."""

    key: Key
    role: Role
    tool: str | None
    call_id: str | None
    end_ns: int
    input_tokens: int | None
    only_in: str | None
    """The trace that its twin must lie in."""
    best: Distance | None = None
    """How near the twin is that it has."""

    @classmethod
    def of(cls, item: ReadSpan) -> _Side:
        span, reading = item.span, item.reading
        return cls(
            key=(span.trace_id, span.span_id),
            role=reading.role,
            tool=reading.tool,
            call_id=reading.call_id,
            end_ns=span.end_ns,
            input_tokens=reading.input_tokens,
            only_in=span.trace_id if reading.log is not None and span.parent_span_id is not None else None,
        )


class Twins:
    """The calls of one run that may have a twin; owned by the ledger."""

    __slots__ = ("_answers", "_calls")

    def __init__(self) -> None:
        self._answers = _Pairing()
        self._calls = _Pairing()

    def pair(self, new: Sequence[Entry]) -> Sequence[Entry] | None:
        """Put new entries together that tell the same call.

        Returns:
            the entries that are left, in their order; None where one tells a call that was folded before.
        """
        parts: dict[LogPart | None, list[Entry]] = {}
        for entry in new:
            if entry.is_call and entry.item.reading.dialect in TELLING_DIALECTS:
                parts.setdefault(entry.item.reading.log, []).append(entry)
        if not parts:
            return new
        spans, calls, answers = parts.get(None, []), parts.get(LogPart.CALL, []), parts.get(LogPart.ANSWER, [])
        told = self._answers.add(answers, [entry for entry in calls if entry.item.reading.role is Role.MODEL])
        if told is None:
            return None
        for answer, call in told:
            call.item = told_together(call.item, answer.item)
        doubled = self._calls.add(calls, spans)
        if doubled is None:
            return None
        for record, span in doubled:
            span.item = _both(span.item, record.item)
        gone = {id(entry) for entry in answers} | {id(record) for record, _ in doubled}
        return [entry for entry in new if id(entry) not in gone] if gone else new


class _Pairing:
    """Records on one side, and what they may tell the same as on the other."""

    __slots__ = ("_others", "_records")

    def __init__(self) -> None:
        self._records: list[_Side] = []
        self._others: list[_Side] = []

    def add(self, records: Sequence[Entry], others: Sequence[Entry]) -> list[tuple[Entry, Entry]] | None:
        """Return the pairs among new entries; None where one of them belongs to an earlier one, or would part a pair."""
        lefts, rights = [_Side.of(entry.item) for entry in records], [_Side.of(entry.item) for entry in others]
        pairs = []
        for distance, left, right in sorted(_candidates(lefts, rights)):
            if lefts[left].best is None and rights[right].best is None:
                lefts[left].best = rights[right].best = distance
                pairs.append((records[left], others[right]))
        if _would_part(_near(lefts, self._others)) or _would_part(_near(self._records, rights)):
            return None
        self._records = [*self._records, *lefts][-_KEPT:]
        self._others = [*self._others, *rights][-_KEPT:]
        return pairs


def _candidates(lefts: Sequence[_Side], rights: Sequence[_Side]) -> Iterator[tuple[Distance, int, int]]:
    """Yield what may be a pair, by position."""
    by_id: dict[str, list[int]] = {}
    for position, right in enumerate(rights):
        if right.call_id is not None:
            by_id.setdefault(right.call_id, []).append(position)
    ends = sorted((right.end_ns, position) for position, right in enumerate(rights))
    for number, left in enumerate(lefts):
        first, last = bisect_left(ends, (left.end_ns - _NEAR_NS, -1)), bisect_right(ends, (left.end_ns + _NEAR_NS, len(ends)))
        near = {position for _, position in ends[first:last]}.union(by_id.get(left.call_id or "", ()))
        for position in near:
            distance = _distance(left, rights[position])
            if distance is not None:
                yield distance, number, position


def _near(lefts: Sequence[_Side], rights: Sequence[_Side]) -> Iterator[tuple[Distance, _Side, _Side]]:
    for distance, left, right in _candidates(lefts, rights):
        yield distance, lefts[left], rights[right]


def _would_part(near: Iterable[tuple[Distance, _Side, _Side]]) -> bool:
    """Return whether any two are nearer to each other than to the twins that they have."""
    return any(all(side.best is None or distance < side.best for side in sides) for distance, *sides in near)


def _distance(record: _Side, other: _Side) -> Distance | None:
    """Return how near the two are, or None where they cannot tell the same call."""
    same_id = record.call_id is not None and record.call_id == other.call_id
    if record.role is not other.role or record.only_in not in {None, other.key[0]}:
        return None
    if not same_id and (record.tool != other.tool or None not in (record.call_id, other.call_id)):
        return None
    apart = abs(record.end_ns - other.end_ns)
    if apart > (_SAME_ID_NS if same_id else _NEAR_NS):
        return None
    differs = None not in (record.input_tokens, other.input_tokens) and record.input_tokens != other.input_tokens
    return (not same_id, differs, apart, record.key, other.key)


def _both(span: ReadSpan, record: ReadSpan) -> ReadSpan:
    """Return the span's call with what only the record says, and with the record's count of tokens where it has one."""
    together = told_together(span, record)
    if record.reading.input_tokens is None and record.reading.output_tokens is None:
        return together
    used = {name: value for name in _USAGE if (value := getattr(record.reading, name)) is not None}
    return replace(together, reading=replace(together.reading, **used))
