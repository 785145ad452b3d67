"""How a run ended: gathered span by span, the same in whatever order they come."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import NamedTuple

from otel_processor.dialects.finish import STOP, TOOL_CALLS
from otel_processor.dialects.stops import FROM_WITHIN, stop_by_word
from otel_processor.model import Reading, Role, StopReason

Order = tuple[int, str]

_TOPS = 16
"""Roots and agents that are remembered, the last ones to end."""


class Seen(NamedTuple):
    """What a span says about the end of its run."""

    reading: Reading
    start_ns: int
    order: Order
    """(end in nanoseconds, span id)"""
    is_root: bool
    """It has no parent, or one in another process."""
    failed: bool
    """Its status is an error."""
    stop: StopReason | None = None
    """What its failure means for a run that ended with it."""


class _Top(NamedTuple):
    """A root or an agent; sorted, the last to end comes first, and of those that end together the outermost."""

    minus_end_ns: int
    start_ns: int
    span_id: str
    closes: bool
    """With it the run is over: no call but the root, or an agent that the run was declared on."""
    failed: bool
    stop: StopReason | None
    finish_reason: str | None


@dataclass(slots=True)
class Ending:
    """Gathers what tells why a run ended; its owner holds the lock.

    The first of these that says something:

    - what the user or the guard declared, the last one; `error` says no more than that, and leaves it to the next;
    - the failure of a root or an agent after which nothing was called any more, the outermost one: a failure that the agent
      went on from did not end it;
    - a call or a plain span below them that was cancelled, handed over to a human or stopped by a guardrail, and after which
      nothing was called: not every framework lets the spans above it say so;
    - the word of the outermost agent on how it finished. One that finished asking for tools, which then ran, was not asked
      again: it was at its limit of steps;
    - why the last model call stopped. When that asked for tools and the root closed well, the program took what it wanted (a
      last tool, an answer in the shape of a call): the run is completed.

    A run that nothing closes is open, however its last model call stopped. Once it is idle for too long it counts as abandoned,
    unless nothing above its last span is awaited: then there was no agent to wait for (each call of a conversation is a trace
    of its own), and a model that had stopped by itself completed it. Where not even that is told, nothing is known.
    """

    closed_ns: int | None = None
    """When the last root ended; None while the run is open."""
    _tops: list[_Top] = field(default_factory=list)
    _declared: tuple[Order, StopReason] | None = None
    _call_ns: int = -1
    _tool: Order = (-1, "")
    _model: tuple[Order, str] | None = None
    _within: tuple[Order, StopReason, bool] | None = None
    """The last span below roots and agents at which the run may have ended; whether it is a call."""
    _last: tuple[int, bool, str, bool, StopReason | None] = (-1, False, "", False, None)
    """The last span: its end, whether it is a root, its id, whether it failed, and what that means."""

    def add(self, seen: Seen) -> None:
        """Take in what one span of the run says."""
        reading, order = seen.reading, seen.order
        end_ns, span_id = order
        role = reading.role
        if reading.stop_declared is not None and (self._declared is None or order > self._declared[0]):
            self._declared = (order, reading.stop_declared)
        if (end_ns, seen.is_root, span_id) > self._last[:3]:
            self._last = (end_ns, seen.is_root, span_id, seen.failed, seen.stop)
        is_within = role.is_call or not (seen.is_root or role.is_task_root)
        if is_within and seen.stop in FROM_WITHIN and (self._within is None or order > self._within[0]):
            self._within = (order, seen.stop, role.is_call)
        if role.is_call:
            self._call_ns = max(self._call_ns, end_ns)
            if role is Role.TOOL:
                self._tool = max(self._tool, order)
            elif reading.finish_reason is not None and (self._model is None or order > self._model[0]):
                self._model = (order, reading.finish_reason)
            return
        if not seen.is_root and not role.is_task_root:
            return
        closes = seen.is_root or reading.run_id is not None
        if closes:
            self.closed_ns = max(self.closed_ns or 0, end_ns)
        top = _Top(-end_ns, seen.start_ns, span_id, closes, seen.failed, seen.stop, reading.finish_reason)
        insort(self._tops, top, key=lambda known: known[:3])
        del self._tops[_TOPS:]

    def reason(self) -> StopReason:
        """Return why the run ended, or that it is open."""
        return StopReason.RUNNING if self.closed_ns is None else self._ended()

    def reason_when_idle(self) -> StopReason:
        """Return why the run ended if no more of it comes, though nothing closed it."""
        if self._declared is not None:
            return self._declared[1]
        _, is_root, _, failed, stop = self._last
        if not is_root:
            return StopReason.ABANDONED
        if failed or stop is not None:
            return stop or StopReason.ERROR
        if self._model is None or self._tool > self._model[0] or self._model[1] == TOOL_CALLS:
            return StopReason.UNKNOWN
        return self._by_model()

    @property
    def failed(self) -> bool:
        """Whether the run ended with a failure, whatever that is called."""
        return any(top.failed or top.stop is not None for top in self._final())

    def _final(self) -> list[_Top]:
        """Return the root that closed the run, and roots and agents after whose end nothing was called."""
        closing = next((top for top in self._tops if top.closes), None)
        return [top for top in self._tops if top is closing or -top.minus_end_ns >= self._call_ns]

    def _ended(self) -> StopReason:
        declared = self._declared[1] if self._declared is not None else None
        if declared not in {None, StopReason.ERROR}:
            return declared
        final = self._final()
        told = next((top.stop for top in final if top.stop is not None), declared)
        if told is not None:
            return told
        if self._within is not None and self._ended_within(*self._within, final):
            return self._within[1]
        if any(top.failed for top in final):
            return StopReason.ERROR
        return self._by_agent(next((top.finish_reason for top in final if top.finish_reason), None)) or self._by_model()

    def _ended_within(self, order: Order, reason: StopReason, is_call: bool, final: list[_Top]) -> bool:
        """Return whether the run ended at a span below the others: with nothing called after it, and no answer before it.

        Who listens beside an agent is cancelled when that has answered.
        """
        if order[0] < self._call_ns:
            return False
        answered = any(top.finish_reason == STOP for top in final) or (self._model is not None and self._model[1] == STOP)
        return is_call or reason is not StopReason.CANCELLED or not answered

    def _by_agent(self, finish_reason: str | None) -> StopReason | None:
        if finish_reason != TOOL_CALLS:
            return stop_by_word(finish_reason)
        asked = self._model[1] if self._model is not None else TOOL_CALLS
        made = self._model is None or self._tool > self._model[0]
        return StopReason.MAX_STEPS if asked == TOOL_CALLS and made and self._tool[0] >= 0 else StopReason.COMPLETED

    def _by_model(self) -> StopReason:
        finish_reason = self._model[1] if self._model is not None else STOP
        return stop_by_word(finish_reason) or StopReason.COMPLETED


def status_of(reason: StopReason, *, failed: bool = False) -> str:
    """Return the status of a run that ended for this reason: `running`, `ok`, `error` or `abandoned`."""
    if reason in {StopReason.RUNNING, StopReason.ABANDONED}:
        return str(reason)
    return "error" if failed or reason is StopReason.ERROR else "ok"
