"""LoopGuard: for an agent's own loop, in the order on_step, before_tool, after_tool, on_turn."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
import weakref
from asyncio import CancelledError
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Self

from otel_processor.errors import ConfigError, LoopDetected
from otel_processor.guard.answer import Answer, fine
from otel_processor.guard.asked import AskedCalls
from otel_processor.guard.border import answers, survives
from otel_processor.guard.declaring import current_trace_id, declare_stop_reason
from otel_processor.guard.feeding import NOT_RECORDED, Feeding
from otel_processor.guard.guarded_run import GuardedRun
from otel_processor.guard.report import Report
from otel_processor.guard.tools import GuardedTools
from otel_processor.model import Action, Alert, Mode, Reading, Role, StopReason
from otel_processor.policy import Policy
from otel_processor.policy_file import policy_of
from otel_processor.runs.tracker import RunTracker
from otel_processor.settings import mode_of

if TYPE_CHECKING:
    from types import TracebackType

_CAUSES = 8
_CANCELLED = (CancelledError, KeyboardInterrupt, GeneratorExit)

_living: weakref.WeakSet[LoopGuard] = weakref.WeakSet()

_active: ContextVar[LoopGuard | None] = ContextVar("otel_processor_guard", default=None)


class LoopGuard(Feeding, GuardedTools):
    """Watches one run of an agent, is asked before each tool call, and says when to change course or to end.

    Asking is pure: only what is told of calls, steps and turns changes what the guard thinks. A call that was asked about
    and allowed, and of which nothing more is said, counts as made, with an unknown result, when the next step or turn
    begins where it was asked about; one that was not allowed counts as refused then.

    Safe to use from several threads and tasks. None of its methods raises into the agent, whatever goes wrong in it, but
    `raise_if_stopped`, `run_tool`, `arun_tool` and functions under `tool`: these raise `LoopDetected` in the mode `enforce`.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        goal: str = "",
        mode: Mode | str | None = None,
        task: str | None = None,
        task_type: str | None = None,
        agent: str = "",
        run_id: str | None = None,
        on_alert: Callable[[Alert], object] | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Begin to watch a run.

        Args:
            policy: the thresholds; those of `$OTEL_PROCESSOR_POLICY` and `$OTEL_PROCESSOR_PRESET`, or the defaults, when
                left out.
            goal: what the run is for, in words: the model is reminded of it.
            mode: `observe`, `nudge` or `enforce`; that of `$OTEL_PROCESSOR_MODE`, or `observe`, when left out.
            task: the name that alerts carry.
            task_type: picks the policy's values for this type of task.
            agent: whose calls these are, where a call does not say it.
            run_id: of the run; the current trace's id, or one of its own, when left out.
            on_alert: called with each alert, on the thread that caused it; must not block. When left out, alerts go to what
                `instrument()` set up in this process: log, metrics, database, and whoever is to be told.
            clock: nanoseconds since the epoch.

        Raises:
            ConfigError: a setting cannot be used.
        """
        if policy is not None and not isinstance(policy, Policy):
            raise ConfigError(f"policy is a {type(policy).__name__}; give an otel_processor.Policy(...)")
        self.mode = mode_of(mode)
        self._policy = policy_of(policy).for_task_type(task_type)
        self._trace_id = current_trace_id() or uuid.uuid4().hex
        self._run = self._new_run(run_id or self._trace_id, goal, task)
        self._own_lock = threading.Lock()
        _living.add(self)
        self._asked = AskedCalls()
        self._agent = self._asking = agent
        self._on_alert = on_alert
        self._clock = clock
        self._began_ns = clock()
        self._ended_ns: int | None = None
        self._reason: StopReason | None = None
        self._stop_was_declared = False
        self._handed_over = ""
        self._turn_is_open: dict[str, bool] = {}
        self._tokens: list[Token[LoopGuard | None]] = []

    def _new_run(self, run_id: str, goal: str, task: str | None) -> GuardedRun:
        return GuardedRun(RunTracker(run_id, self._policy), self._policy, self.mode, goal=goal, task=task)

    @property
    def goal(self) -> str:
        """What the run is for, in words; may be set later."""
        return self._run.goal

    @goal.setter
    def goal(self, goal: str) -> None:
        self._run.goal = goal

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._run.tracker.run_id

    @property
    def stopped(self) -> bool:
        """Whether the run was stopped for good; only ever in the mode `enforce`."""
        return self._run.is_over

    @answers
    def on_step(self, *, agent: str | None = None) -> Answer:
        """Say that an iteration of the agent's loop begins; return what is to be said before it."""
        who = self._agent if agent is None else agent
        self._settle(who)
        self._turn_is_open[who] = True
        return self._take_in(self._model_call(who, Reading(role=Role.MODEL)))

    @answers
    def before_tool(self, name: str, arguments: Any = None, *, call_id: str | None = None, agent: str | None = None) -> Answer:
        """Ask whether a tool may be called; changes nothing, however often it is asked.

        Args:
            name: of the tool.
            arguments: by name, or as JSON text; None: it takes none.
            call_id: the framework's id of the call; tells calls apart that run side by side.
            agent: that calls it, where there are several.
        """
        return self._ask(name, arguments, call_id, agent).answer

    @answers
    def after_tool(
        self,
        result: Any = NOT_RECORDED,
        *,
        error: BaseException | str | None = None,
        progress: bool | None = None,
        call: Answer | str | None = None,
    ) -> Answer:
        """Say what came back from a tool, and return what is to be said about it.

        Args:
            result: what it returned; left out when it is not known.
            error: what it failed with.
            progress: whether it brought the agent further; goes before what the guard would think.
            call: the answer, or the id, of the call; the latest one asked about here when left out.
        """
        asked = self._take(call)
        if asked is None:
            return fine()
        if asked.answer.action is Action.COMPRESS:
            with self._lock:
                self._run.told(asked.answer)
        return self._made(asked, result, error, progress)

    @answers
    def skip_tool(self, call: Answer | str | None = None) -> Answer:
        """Say that a call was not made because of the answer, and that the model was given its message.

        Args:
            call: as in `after_tool`.
        """
        asked = self._take(call)
        if asked is None:
            return fine()
        self._refuse(asked)
        return self._now(asked.call.agent)

    @answers
    def told(self, answer: Answer) -> Answer:
        """Say that the model was given the message of an answer that came after a call or a turn: no call is refused for it."""
        with self._lock:
            self._run.told(answer)
        return fine()

    @answers
    def on_turn(
        self,
        text: str | None = None,
        *,
        reasoning: str | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cost_usd: float | None = None,
        finish_reason: str | None = None,
        model: str | None = None,
        agent: str | None = None,
    ) -> Answer:
        """Say what the model answered; begins a step where `on_step` did not.

        Args:
            text: what it said.
            reasoning: what it thought.
            input_tokens: of the call, cached ones included.
            output_tokens: of the call, reasoning included.
            cost_usd: of the call, in US dollars.
            finish_reason: as the model gives it (`stop`, `length`, `tool_calls`, …).
            model: its name.
            agent: whose turn it was, where there are several.
        """
        who = self._agent if agent is None else agent
        same_step = self._turn_is_open.pop(who, False)
        if not same_step:
            self._settle(who)
        reading = Reading(
            role=Role.MODEL,
            text=text,
            reasoning=reasoning,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost_usd=cost_usd,
            finish_reason=finish_reason,
            model=model,
        )
        return self._take_in(self._model_call(who, reading, same_step=same_step))

    @answers
    def on_tool_call(self, name: str, arguments: Any = None, *, call_id: str | None = None, agent: str | None = None) -> Answer:
        """Ask whether a tool may be called and, where it may, say that it is: it counts from the next thing that is told."""
        for earlier in self._asked_here(begun_only=True):
            self._made(earlier, NOT_RECORDED, None, None)
        asked = self._ask(name, arguments, call_id, agent)
        asked.begun = True
        return asked.answer

    @answers
    def on_progress(self, made_progress: bool) -> Answer:
        """Say whether the step so far brought the agent further."""
        mine = self._asked_here()
        last = mine.pop() if mine and mine[-1].answer.allows_call else None
        for asked in mine:
            self._close(asked)
        return self._declare(made_progress) if last is None else self._made(last, NOT_RECORDED, None, made_progress)

    @survives
    def mark_progress(self, what: str = "") -> None:
        """Say that the agent got further, and by what: `tests passed: 12`. It goes before what the guard would think."""
        with self._lock:
            if what:
                self._run.history.mark(what)
            asked = self._asked.running_here()
            if asked is not None:
                asked.progress = True
                return
        self._declare(True)

    @survives
    def partial(self, text: str) -> None:
        """Hand in a part of the result, for the report in case the run is stopped."""
        with self._lock:
            self._run.history.hand_in(text)

    @survives
    def hand_over(self, why: str = "") -> None:
        """Say that the run ends here because a person has to go on."""
        self._handed_over = why or "handed to a person"
        self._end(StopReason.HANDED_TO_HUMAN)

    def raise_if_stopped(self) -> None:
        """Raise where the run was stopped for good.

        Raises:
            LoopDetected: it was.
        """
        if self.stopped:
            raise LoopDetected(self._now(self._agent))

    @survives
    def finish(self, reason: StopReason | str | None = None) -> None:
        """Say that the run is over; what is said again is not heard.

        Args:
            reason: why it ended; told from what happened when left out.
        """
        if self._ended_ns is not None:
            return
        for asked in self._all_asked():
            self._close(asked)
        self._end(StopReason(reason) if reason is not None else None)

    def report(self) -> Report:
        """Return what happened so far, for a person."""
        with self._lock:
            ended_ns = self._ended_ns if self._ended_ns is not None else self._clock()
            stopped = self._run.stopped if self._run.is_over else None
            reason = self._reason or (stopped.stop_reason if stopped is not None else None) or StopReason.RUNNING
            return self._run.report(reason, seconds=max(ended_ns - self._began_ns, 0) / 1e9, note=self._handed_over)

    def __enter__(self) -> Self:
        self._tokens.append(_active.set(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._tokens:
            # In another context than the one that entered there is nothing to take back.
            with contextlib.suppress(ValueError):
                _active.reset(self._tokens.pop())
        self._leave(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    @survives
    def _leave(self, error: BaseException | None) -> None:
        stop = _stop_in(error)
        if stop is not None:
            self.finish(stop.stop_reason)
        elif error is not None:
            self.finish(StopReason.CANCELLED if isinstance(error, _CANCELLED) else StopReason.ERROR)
        else:
            self.finish()

    def _end(self, reason: StopReason | None) -> None:
        with self._lock:
            run = self._run
            if reason is None and run.is_over and run.stopped is not None:
                reason = run.stopped.stop_reason
            self._ended_ns = self._clock()
            self._reason = self._reason or reason or run.tracker.end_reason
            ended = run.tracker.finish(self._ended_ns)
        self._tell_end(ended)
        if self._reason is not StopReason.COMPLETED:
            declare_stop_reason(self._reason)


def _stop_in(error: BaseException | None) -> LoopDetected | None:
    """Return the guard's exception, which frameworks may have wrapped in one of their own."""
    for _ in range(_CAUSES):
        if error is None or isinstance(error, LoopDetected):
            return error
        error = error.__cause__
    return None


def active_guard() -> LoopGuard | None:
    """Return the innermost guard that this context is inside of."""
    return _active.get()


def _begin_in_child() -> None:
    for guard in list(_living):
        # The thread that held it may not have come along.
        guard._own_lock = threading.Lock()


os.register_at_fork(after_in_child=_begin_in_child)
