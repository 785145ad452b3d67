"""What a run's calls are told to have been: asked for by one model call, answered in the messages of a later one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_processor.detection.bounded import RecentMap
from otel_processor.model import Reading, Role, Told
from otel_processor.runs.entry import Entry, Key, lacks_result
from otel_processor.runs.requests import Requests
from otel_processor.runs.telling import filled, told_of, with_request

_EARLY = 32
"""Calls without a request that are remembered below one span, and such spans."""

_AWAITING = 128
"""Calls without a result that are remembered; models are given results soon."""


@dataclass(frozen=True, slots=True)
class _Awaiting:
    """A call whose result nobody told yet."""

    tool: str | None
    call_id: str | None
    asked_as: str | None
    """The id of the request that it is taken to fulfil."""
    parent_id: str | None


class Hearing:
    """Listens to a run's calls in their order; owned by the ledger."""

    __slots__ = ("_awaiting", "_early", "_requests")

    def __init__(self) -> None:
        self._requests = Requests()
        self._awaiting: dict[Key, _Awaiting] = {}
        self._early: RecentMap[str, tuple[Reading, ...]] = RecentMap(_EARLY)

    def copy(self) -> Hearing:
        """Return one of its own that heard the same."""
        twin = Hearing()
        twin._requests, twin._awaiting, twin._early = self._requests.copy(), self._awaiting.copy(), self._early.copy()
        return twin

    def listen(self, entry: Entry, at_hand: dict[Key, Entry]) -> Iterable[Key]:
        """Take in the run's next entry: what it was asked to do, or what it tells of calls before it.

        A model call is asked only where some call has no result: taking its messages apart costs more than reading it.

        Args:
            entry: the next one.
            at_hand: those that can still be told something.

        Returns:
            calls that it tells something of and that are not at hand.
        """
        reading = entry.item.reading
        if reading.role is Role.TOOL:
            self._listen_to_tool(entry)
            at_hand[entry.key] = entry
            return ()
        if self._awaiting and entry.told is None:
            entry.told = told_of(entry.item)
        entry.heard = entry.item
        missing = [key for told in entry.told or () if (key := self._tell(told, entry.node.parent_id, at_hand)) is not None]
        self._requests.remember(reading)
        for made in self._early.pop(entry.node.span_id) or ():
            self._requests.claim(made)
        return missing

    def _listen_to_tool(self, entry: Entry) -> None:
        reading = entry.item.reading
        request = self._requests.claim(reading)
        entry.heard = entry.item if request is None else with_request(entry.item, request)
        above = entry.node.parent_id
        if request is None and above is not None:
            # The span above may be the model that asked for it, and not have ended: the next call is no answer to that.
            made = Reading.of({"role": Role.TOOL, "tool": reading.tool, "call_id": reading.call_id})
            self._early.put(above, (*(self._early.get(above) or ()), made)[-_EARLY:])
        if not lacks_result(entry.item):
            return
        asked_as = request.call_id if request is not None else None
        self._awaiting[entry.key] = _Awaiting(reading.tool, reading.call_id, asked_as, above)
        if len(self._awaiting) > _AWAITING:
            del self._awaiting[next(iter(self._awaiting))]

    def _tell(self, told: Told, parent_id: str | None, at_hand: dict[Key, Entry]) -> Key | None:
        """Fill the call that was told of; return its key where it is not at hand."""
        key = self._find(told, parent_id)
        if key is None:
            return None
        del self._awaiting[key]
        entry = at_hand.get(key)
        if entry is None:
            return key
        entry.heard = filled(entry.heard or entry.item, told)
        return None

    def _find(self, told: Told, parent_id: str | None) -> Key | None:
        """Return the last call with this id, else the first one of the tool that has none: under the same span, or anywhere."""
        if told.call_id is not None:
            for key, waiting in reversed(self._awaiting.items()):
                named = waiting.call_id or waiting.asked_as
                if named == told.call_id and (told.tool is None or waiting.tool == told.tool):
                    return key
        if told.tool is None:
            return None
        fitting = [
            (key, waiting.parent_id)
            for key, waiting in self._awaiting.items()
            if waiting.tool == told.tool and (told.call_id is None or waiting.call_id is None)
        ]
        beside = next((key for key, above in fitting if above is not None and above == parent_id), None)
        return beside or next((key for key, _ in fitting), None)
