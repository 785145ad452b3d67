"""Calls that were asked about and of which nobody has said yet what became of them; bounded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from otel_processor.detection.bounded import RecentMap
from otel_processor.guard.answer import Answer
from otel_processor.model import Call

_WAITING = 256


def here() -> tuple[int, int]:
    """Return what tells this line of execution from others: its thread, and its task where it is one."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return threading.get_ident(), id(task) if task is not None else 0


@dataclass(slots=True)
class Asked:
    """A call, what was answered, and who asked."""

    key: Hashable
    place: tuple[int, int]
    call: Call
    answer: Answer
    begun: bool = False
    """The agent said that it makes the call."""
    progress: bool | None = None
    """What the agent declared of it before it said what came back."""
    passed: int = 0
    """Steps that began while nobody had said what became of it."""


class AskedCalls:
    """Owned by a guard, whose lock holds it together."""

    def __init__(self, place: Callable[[], tuple[int, int]] = here) -> None:
        self.place = place
        """Tells lines of execution apart."""
        self._waiting: RecentMap[Hashable, Asked] = RecentMap(_WAITING)

    def remember(self, asked: Asked) -> None:
        """Keep the call; one that was asked about before is the same call, asked about again."""
        self._waiting.put(asked.key, asked)

    def at(self, key: Hashable) -> Asked | None:
        """Return the call that was asked about under this key."""
        return self._waiting.peek(key)

    def take(self, name: str | None) -> Asked | None:
        """Return, and forget, the call of that id, else the latest one asked about here, else the latest of all."""
        asked = self.find(name)
        if asked is not None:
            self._waiting.pop(asked.key)
        return asked

    def find(self, name: str | None) -> Asked | None:
        """Return that call and keep it."""
        waiting = list(self._waiting.values())
        if name is not None:
            return next((asked for asked in reversed(waiting) if asked.answer.call_id == name), None)
        place = self.place()
        return next((asked for asked in reversed(waiting) if asked.place == place), waiting[-1] if waiting else None)

    def latest(self, agent: str, tool: str | None) -> Asked | None:
        """Return the call that an agent asked about last, of that tool if one is named, and keep it."""
        waiting = reversed(list(self._waiting.values()))
        return next((one for one in waiting if one.call.agent == agent and tool in {None, one.call.reading.tool}), None)

    def running_here(self) -> Asked | None:
        """Return the call that this code runs in: the latest asked about here, else the only one; its tool may have a thread."""
        asked = self.find(None)
        if asked is None or asked.passed:
            return None
        return asked if asked.place == self.place() or len(self._waiting) == 1 else None

    def take_here(self, agent: str | None, *, begun_only: bool = False) -> list[Asked]:
        """Return, and forget, what this line of execution asked about, in order.

        Args:
            agent: whose calls; None: everybody's.
            begun_only: leave those that nobody said are being made.
        """
        place = self.place()
        mine = [
            asked
            for asked in self._waiting.values()
            if asked.place == place and agent in {None, asked.call.agent} and (asked.begun or not begun_only)
        ]
        for asked in mine:
            self._waiting.pop(asked.key)
        return mine

    def take_all(self) -> list[Asked]:
        """Return, and forget, everything."""
        waiting = list(self._waiting.values())
        self._waiting.clear()
        return waiting
