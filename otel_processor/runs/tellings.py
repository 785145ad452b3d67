"""What plain spans tell of a run's calls by their ids: a child of the tool's span, a sibling, a message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_processor.detection.bounded import RecentMap
from otel_processor.model import Told
from otel_processor.runs.ending import Order
from otel_processor.runs.entry import Entry, Key, lacks_result
from otel_processor.runs.records import ReadSpan
from otel_processor.runs.telling import filled

_IDS = 256
_EACH = 8
"""Tellings, and calls, of one id that are remembered: there are servers that use ids again."""


@dataclass(slots=True)
class Telling:
    """What a span that is no call tells of one that carries this id."""

    order: Order
    told: Told
    target: Key | None = None
    """The call that it was taken to be about."""


class _Mark(NamedTuple):
    """What is remembered of a call that was folded."""

    key: Key
    tool: str | None
    start_ns: int
    lacks_result: bool
    lacks_arguments: bool
    is_error: bool

    def learns_from(self, told: Told) -> bool:
        """Whether the telling says what the call does not."""
        return (
            (self.lacks_result and told.result is not None)
            or (self.lacks_arguments and told.arguments is not None)
            or (told.is_error and not self.is_error)
        )


class Tellings:
    """Brings what is told and the calls together, whichever came first; owned by the ledger."""

    __slots__ = ("_heard", "_marks")

    def __init__(self) -> None:
        self._heard: RecentMap[str, list[Telling]] = RecentMap(_IDS)
        self._marks: RecentMap[str, list[_Mark]] = RecentMap(_IDS)

    def note(self, entry: Entry) -> None:
        """Remember a call that is folded."""
        reading = entry.item.reading
        if reading.call_id is None:
            return
        mark = _Mark(
            entry.key,
            reading.tool,
            entry.item.span.start_ns,
            lacks_result(entry.item),
            reading.arguments is None,
            reading.is_error,
        )
        others = [known for known in self._marks.get(reading.call_id) or () if known.key != mark.key]
        self._marks.put(reading.call_id, [*others, mark][-_EACH:])

    def bring(self, fresh: Sequence[Telling], new: Sequence[Entry]) -> dict[Key, list[Told]] | None:
        """Fill new calls with what is told of them, now or before.

        Returns:
            what is told now of calls that were folded already, or None where what was told before turns out to be of other
            calls than it was taken for.
        """
        for telling in fresh:
            call_id = telling.told.call_id or ""
            known = self._heard.get(call_id) or []
            known.append(telling)
            self._heard.put(call_id, known[-_EACH:])
        ids = {telling.told.call_id or "": None for telling in fresh}
        calls: dict[str, list[Entry]] = {}
        for entry in new:
            own = entry.item.reading.call_id if entry.is_call else None
            if own is not None and (own in ids or own in self._heard):
                calls.setdefault(own, []).append(entry)
                ids[own] = None
        late: dict[Key, list[Told]] = {}
        for call_id in ids:
            if not self._bring(call_id, calls.get(call_id, ()), late):
                return None
        return late

    def _bring(self, call_id: str, new: Sequence[Entry], late: dict[Key, list[Told]]) -> bool:
        marks = self._marks.get(call_id) or ()
        last: dict[Key, bool] = {}
        for telling in sorted(self._heard.get(call_id) or (), key=lambda each: each.order):
            entry = _latest([each for each in new if _fits(telling, each.item.reading.tool, each.item.span.start_ns)])
            mark = max((each for each in marks if _fits(telling, each.tool, each.start_ns)), key=_began, default=None)
            is_new = entry is not None and (mark is None or (entry.item.span.start_ns, entry.key) > _began(mark))
            key = entry.key if entry is not None and is_new else mark.key if mark is not None else None
            if telling.target not in (None, key):
                return False
            was_known, telling.target = telling.target is not None, key
            if entry is not None and is_new:
                entry.item = filled(entry.item, telling.told)
            elif mark is not None and not was_known:
                if mark.learns_from(telling.told):
                    late.setdefault(mark.key, []).append(telling.told)
            elif mark is not None and last.get(mark.key) is False:
                # One that ended before came after this one: it would have been the first to say.
                return False
            if key is not None:
                last[key] = was_known
        return True


def _fits(telling: Telling, tool: str | None, start_ns: int) -> bool:
    """Whether the telling can be of a call: one that had begun, of the tool that is named."""
    return start_ns <= telling.order[0] and (telling.told.tool is None or tool is None or telling.told.tool == tool)


def _latest(entries: Sequence[Entry]) -> Entry | None:
    return max(entries, key=lambda each: (each.item.span.start_ns, each.key), default=None)


def _began(mark: _Mark) -> tuple[int, Key]:
    return (mark.start_ns, mark.key)


def filled_with(item: ReadSpan, tellings: Iterable[Told]) -> ReadSpan:
    """Return a call with what these tell of it."""
    for told in tellings:
        item = filled(item, told)
    return item
