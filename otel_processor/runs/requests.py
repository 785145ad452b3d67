"""The tool calls that a run's model asked for and that nobody has made yet."""

from __future__ import annotations

from otel_processor.detection.bounded import RecentMap
from otel_processor.model import Reading, RequestedCall, Role

_REQUESTS = 256


class Requests:
    """What the model asked for; used by the live path and by the ledger alike. Its owner holds the lock."""

    __slots__ = ("_by_id", "_unclaimed")

    def __init__(self) -> None:
        self._by_id: RecentMap[str, RequestedCall] = RecentMap(_REQUESTS)
        self._unclaimed: RecentMap[str, tuple[RequestedCall, ...]] = RecentMap(_REQUESTS)

    def copy(self) -> Requests:
        """Return requests of their own that are the same."""
        twin = Requests()
        twin._by_id, twin._unclaimed = self._by_id.copy(), self._unclaimed.copy()
        return twin

    def remember(self, reading: Reading) -> None:
        """Take in what a model call asks for; what its last one asked for by position only is over."""
        if not reading.requested:
            return
        self._unclaimed.clear()
        for request in reading.requested[:_REQUESTS]:
            if request.arguments is None:
                continue
            if request.call_id is not None:
                self._by_id.put(request.call_id, request)
            self._unclaimed.put(request.tool, (*(self._unclaimed.get(request.tool) or ()), request))

    def claim(self, reading: Reading) -> RequestedCall | None:
        """Return the request that a tool call fulfils: by call id, else the next one for that tool.

        Consumes the request. None when the model's answer was not recorded.
        """
        if reading.role is not Role.TOOL or reading.tool is None:
            return None
        waiting = self._unclaimed.get(reading.tool) or ()
        request = self._by_id.pop(reading.call_id) if reading.call_id is not None else None
        if request is None or request.tool != reading.tool:
            request = next(iter(waiting), None) if reading.call_id is None else None
        if request is None:
            return None
        if request in waiting:
            at = waiting.index(request)
            self._unclaimed.put(reading.tool, waiting[:at] + waiting[at + 1 :])
        return request
