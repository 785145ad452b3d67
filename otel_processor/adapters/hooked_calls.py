"""What the hooks of every framework do alike: ask before a call, say what came back, and what a stopped run answers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from otel_processor.bug_reports import report_bug
from otel_processor.detection.bounded import RecentMap
from otel_processor.errors import LoopDetected
from otel_processor.guard import Answer, LoopGuard
from otel_processor.guard.border import answers, survives
from otel_processor.model import Action
from otel_processor.processor import current_guard

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")

_CALLS = 256


def or_else(nothing: U) -> Callable[[Callable[P, T]], Callable[P, T | U]]:
    """Make a hook return what stands for nothing where it fails; logged once a minute at most."""

    def decorate(hook: Callable[P, T]) -> Callable[P, T | U]:
        @functools.wraps(hook)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T | U:
            try:
                return hook(*args, **kwargs)
            except Exception:  # noqa: BLE001 - this is the border
                report_bug(hook.__qualname__)
                return nothing

        return guarded

    return decorate


class HookedCalls:
    """The calls that a framework tells by hooks, on their way to the run's guard; keeps what waits for their results, bounded."""

    def __init__(self, guard: LoopGuard | None) -> None:
        """Use a guard for all calls, or, with None, the one that each call is made under (`current_guard()`)."""
        self._given = guard
        # Where spans tell the calls, these know better whose they are.
        self._tells_agents = guard is not None
        self._lock = Lock()
        self._to_say: RecentMap[str, str] = RecentMap(_CALLS)

    @property
    def guard(self) -> LoopGuard:
        """The run's guard."""
        return self._given if self._given is not None else current_guard()

    def pinned(self) -> HookedCalls:
        """Return the same for another thread, under the guard that this one is under."""
        twin = HookedCalls(self.guard)
        twin._tells_agents = self._tells_agents
        return twin

    @or_else(None)
    def begin_step(self, agent: str | None = None) -> str | None:
        """Say that the model is about to be called; return the last words where the run was stopped, else None."""
        last_words = self.last_words()
        if last_words is None:
            self.guard.on_step(agent=self._named(agent))
            last_words = self.last_words()
        return last_words

    @answers
    def ask(self, name: str, arguments: Any, call_id: str | None, agent: str | None = None) -> Answer:
        """Ask about a call, and take note that it is not made where the answer refuses it."""
        guard = self.guard
        answer = guard.before_tool(name, arguments, call_id=call_id, agent=self._named(agent))
        if not answer.allows_call:
            guard.skip_tool(answer)
        elif answer.action is Action.COMPRESS and answer.call_id is not None:
            with self._lock:
                self._to_say.put(answer.call_id, answer.message)
        return answer

    @or_else("")
    def came_back(self, call_id: str | None, *result: Any, error: BaseException | str | None = None) -> str:
        """Say what came back from a call, and return what the model is to be told with it; empty: nothing.

        Args:
            call_id: of the call; what was refused or never asked about is left alone.
            result: what it returned; nothing where that is not known.
            error: what it failed with.
        """
        if call_id is None:
            return ""
        guard = self.guard
        after = guard.after_tool(*result, error=error, call=call_id)
        with self._lock:
            message = self._to_say.pop(call_id) or ""
        if after.action in {Action.NUDGE, Action.COMPRESS}:
            guard.told(after)
            message = after.message
        return message

    @survives
    def end_turn(self, read: Callable[[], dict[str, Any]], agent: str | None = None) -> None:
        """Say what the model answered.

        Args:
            read: returns the arguments of `LoopGuard.on_turn`; what goes wrong in it costs the turn's text, nothing else.
            agent: whose turn it was.
        """
        self.guard.on_turn(**_read(read), agent=self._named(agent))

    @or_else(None)
    def last_words(self) -> str | None:
        """Return what a run that was stopped for good answers its user, the report of its guard; None where it was not."""
        guard = self.guard
        try:
            guard.raise_if_stopped()
        except LoopDetected as stop:
            return _report(guard, stop)
        return None

    def _named(self, agent: str | None) -> str | None:
        return agent if self._tells_agents else None


def _report(guard: LoopGuard, stop: LoopDetected) -> str:
    try:
        return guard.report().text()
    except Exception:  # noqa: BLE001 - nothing of ours reaches the agent
        report_bug("last_words")
        return str(stop)


def _read(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return read()
    except Exception:  # noqa: BLE001 - a response of a shape that we do not know
        report_bug("reading a turn")
        return {}
