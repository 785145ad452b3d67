"""Calls that a span and a log record tell: they are found in pairs, and each counts once.

Where both carry an id, that decides; else the record and the span that end nearest to each other, within two seconds. The
pairs are the same in whatever order they come: the nearest two first, then the nearest of those that are left. A span is
what stands for the call.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

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


class Paired(NamedTuple):
    """What became of new entries."""

    rest: Sequence[Entry]
    """Those that are left, in their order."""
    more: Mapping[Key, ReadSpan]
    """Calls that were folded before, by spans, and the records that tell more of them."""
    instead: Mapping[Key, Entry]
    """Calls that were folded before, by records, and the new spans that stand for them."""


class Twins:
    """The calls of one run that may have a twin; owned by the ledger."""

    __slots__ = ("_answers", "_calls", "has_records")

    def __init__(self) -> None:
        self._answers = _Pairing()
        self._calls = _Pairing()
        self.has_records = False
        """Whether log records tell calls of the run."""

    def pair(self, new: Sequence[Entry]) -> Paired | None:
        """Put entries together that tell the same call; None where that would part two that were put together before."""
        parts: dict[LogPart | None, list[Entry]] = {}
        for entry in new:
            if entry.is_call and entry.item.reading.dialect in TELLING_DIALECTS:
                parts.setdefault(entry.item.reading.log, []).append(entry)
        if not parts:
            return Paired(new, {}, {})
        spans, calls, answers = parts.get(None, []), parts.get(LogPart.CALL, []), parts.get(LogPart.ANSWER, [])
        self.has_records = self.has_records or bool(calls)
        told = self._answers.add(answers, [entry for entry in calls if entry.item.reading.role is Role.MODEL])
        if told is None or told.with_earlier:
            return None
        for answer, call in told.pairs:
            call.item = told_together(call.item, answer.item)
        doubled = self._calls.add(calls, spans)
        if doubled is None:
            return None
        gone = {id(entry) for entry in answers} | {id(record) for record, _ in doubled.pairs}
        for record, span in doubled.pairs:
            span.item, span.has_twin = both(span.item, record.item), True
        more: dict[Key, ReadSpan] = {}
        instead: dict[Key, Entry] = {}
        for entry, earlier in doubled.with_earlier:
            entry.has_twin = True
            if entry.item.reading.log is None:
                instead[earlier] = entry
            else:
                more[earlier] = entry.item
                gone.add(id(entry))
        return Paired([entry for entry in new if id(entry) not in gone] if gone else new, more, instead)


def may_have_twin(entry: Entry) -> bool:
    """Return whether a span, or a record, that tells the same call may come."""
    return not entry.has_twin and entry.is_call and entry.item.reading.dialect in TELLING_DIALECTS


class _Pairs(NamedTuple):
    """Twins that were found."""

    pairs: list[tuple[Entry, Entry]]
    with_earlier: list[tuple[Entry, Key]]
    """New entries, and the twin of each that was there before."""


class _Pairing:
    """Records on one side, and what they may tell the same as on the other."""

    __slots__ = ("_others", "_records")

    def __init__(self) -> None:
        self._records: list[_Side] = []
        self._others: list[_Side] = []

    def add(self, records: Sequence[Entry], others: Sequence[Entry]) -> _Pairs | None:
        """Return the twins among new entries and earlier ones; None where that would part a pair."""
        entries = {entry.key: entry for entry in (*records, *others)}
        lefts = [*self._records, *(_Side.of(entry.item) for entry in records)]
        rights = [*self._others, *(_Side.of(entry.item) for entry in others)]
        near = sorted(_candidates(lefts, rights))
        found = _Pairs([], [])
        for distance, left_at, right_at in near:
            left, right = lefts[left_at], rights[right_at]
            if left.best is not None or right.best is not None:
                continue
            left.best = right.best = distance
            record, other = entries.get(left.key), entries.get(right.key)
            if record is not None and other is not None:
                found.pairs.append((record, other))
            elif record is not None:
                found.with_earlier.append((record, right.key))
            elif other is not None:
                found.with_earlier.append((other, left.key))
        for distance, left_at, right_at in near:
            if all(side.best is None or distance < side.best for side in (lefts[left_at], rights[right_at])):
                return None
        self._records, self._others = lefts[-_KEPT:], rights[-_KEPT:]
        return found


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


def both(span: ReadSpan, record: ReadSpan) -> ReadSpan:
    """Return the span's call with what only the record says, and with the record's count of tokens where it has one."""
    together = told_together(span, record)
    if record.reading.input_tokens is None and record.reading.output_tokens is None:
        return together
    used = {name: value for name in _USAGE if (value := getattr(record.reading, name)) is not None}
    return replace(together, reading=replace(together.reading, **used))
