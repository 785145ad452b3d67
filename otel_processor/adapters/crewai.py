"""CrewAI: hooks that ask the guard before each tool, and end the crew where it stops the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from otel_processor.adapters.hooked_calls import HookedCalls
from otel_processor.adapters.missing import missing
from otel_processor.detection.bounded import RecentMap
from otel_processor.errors import LoopDetected
from otel_processor.guard import LoopGuard

try:
    from crewai.hooks.dispatch import HookAborted, InterceptionPoint, get_scoped_hooks, scoped_hooks
except ImportError as error:
    raise missing("CrewAI", "crewai>=1.15.10") from error

_CALLS = 256
_FAILED = "Error executing tool"


class LoopAborted(HookAborted, LoopDetected):
    """A crew was stopped by its guard; CrewAI lets it through to whoever kicked the crew off."""

    def __init__(self, stop: LoopDetected) -> None:
        LoopDetected.__init__(self, stop.verdict)
        self.reason = str(stop)
        self.source = "otel_processor"


@contextmanager
def loop_hooks(guard: LoopGuard | None = None) -> Iterator[None]:
    """Guard the crews that are kicked off in the block, and no others of the process.

    ```python
    with loop_hooks(guard):
        crew.kickoff()
    ```

    A call that is refused does not run, and the model reads why as its result. A stopped run ends before the next model
    call: `kickoff` raises `LoopDetected`.

    Args:
        guard: of the run; `current_guard()` of each call when left out.

    Raises:
        LoopDetected: out of the block, in the mode `enforce`: the run is stopped.
    """
    hooks = _Hooks(guard)
    mine = {
        InterceptionPoint.PRE_MODEL_CALL: hooks.before_model,
        InterceptionPoint.POST_MODEL_CALL: hooks.after_model,
        InterceptionPoint.PRE_TOOL_CALL: hooks.before_tool,
        InterceptionPoint.POST_TOOL_CALL: hooks.after_tool,
    }
    with scoped_hooks(
        {point: [*get_scoped_hooks(point), *([mine[point]] if point in mine else [])] for point in InterceptionPoint}
    ):
        yield


class _Hooks:
    def __init__(self, guard: LoopGuard | None) -> None:
        self._calls = HookedCalls(guard)
        self._lock = Lock()
        self._refused: RecentMap[str, str] = RecentMap(_CALLS)

    def before_model(self, context: Any) -> None:
        self._calls.begin_step(_agent(context))
        try:
            self._calls.guard.raise_if_stopped()
        except LoopDetected as stop:
            raise LoopAborted(stop) from None

    def after_model(self, context: Any) -> None:
        # CrewAI does not tell hooks of tokens, nor of turns that only call tools.
        self._calls.end_turn(lambda: {"text": context.response}, _agent(context))

    def before_tool(self, context: Any) -> bool | None:
        call_id = _call_id(context)
        answer = self._calls.ask(context.tool_name, context.tool_input, call_id, _agent(context))
        if answer.allows_call:
            return None
        with self._lock:
            self._refused.put(call_id, answer.message)
        return False

    def after_tool(self, context: Any) -> str | None:
        call_id = _call_id(context)
        with self._lock:
            refused = self._refused.pop(call_id)
        if refused is not None:
            return refused
        result = context.raw_tool_result if context.raw_tool_result is not None else context.tool_result
        failed = isinstance(result, str) and result.startswith(_FAILED)
        said = self._calls.came_back(call_id, result, error=result if failed else None)
        return f"{context.tool_result}\n\n{said}" if said else None


def _call_id(context: Any) -> str:
    """Return what tells this call from those beside it: the hooks before and after it are given the same arguments object."""
    return f"call-{id(context.tool_input)}"


def _agent(context: Any) -> str | None:
    return getattr(context.agent, "role", None)
