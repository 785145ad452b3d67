"""The guard of one run whose agent is somewhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from otel_processor.guard.answer import Answer
from otel_processor.guard.asked import Asked, AskedCalls
from otel_processor.guard.loop_guard import LoopGuard
from otel_processor.model import Alert, Call, Mode, Pattern
from otel_processor.policy import Policy
from otel_processor.service.guard_api.settled_calls import SettledCalls

_ARGUMENT_BYTES = 65_536
"""Of a call's arguments that are kept until it is told what became of it; its signature is of all of them."""


class HostedGuard(LoopGuard):
    """The guard of a run whose agent is somewhere else: whoever asks is told apart by the agent's name, not by threads."""

    def __init__(
        self,
        policy: Policy,
        *,
        mode: Mode,
        run_id: str,
        trace: tuple[str, str] | None,
        goal: str = "",
        task: str | None = None,
        task_type: str | None = None,
        agent: str = "",
        tell: Callable[[Alert], object],
        clock: Callable[[], int],
    ) -> None:
        """Begin to watch a run.

        Args:
            policy: the thresholds.
            mode: how far the guard goes.
            run_id: of the run.
            trace: the agent's trace id and the span that it asked in, where it said so.
            goal: what the run is for, in words.
            task: the name that alerts carry.
            task_type: picks the policy's values for this type of task.
            agent: whose calls these are, where a call does not say it.
            tell: called with each alert, and again when it is over; must not block.
            clock: nanoseconds since the epoch.
        """
        super().__init__(
            policy, goal=goal, mode=mode, task=task, task_type=task_type, agent=agent, run_id=run_id, on_alert=tell, clock=clock
        )
        self._hand = tell
        self._asked = AskedCalls(lambda: (0, 0))
        self._settled = SettledCalls()
        self.parent_span_id = trace[1] if trace is not None else None
        if trace is not None:
            self._trace_id = trace[0]
        self.task_type = task_type
        self.last_ns = self._began_ns
        """When it was last asked or told something."""
        self.idle_ns = int(self._policy.run_idle_timeout_seconds * 1e9)
        """Silence after which the run counts as abandoned."""
        self.was_called_over = False
        """Its owner has said that it is over."""

    @property
    def agent(self) -> str:
        """Who calls, where a request does not say it."""
        return self._agent

    @property
    def trace_id(self) -> str:
        """The trace of the agent, else one of the run's own."""
        return self._trace_id

    @property
    def task(self) -> str | None:
        """The name that alerts carry."""
        return self._run.task

    @property
    def times_ns(self) -> tuple[int, int]:
        """When the run began, and when it was last heard of."""
        return self._began_ns, self.last_ns

    @property
    def has_ended(self) -> bool:
        """Whether somebody said that it is over."""
        return self._ended_ns is not None

    @property
    def weight(self) -> int:
        """How much is remembered, in words of some 70 bytes."""
        return self._run.tracker.state.weight

    def waiting_call(self, call_id: str | None, agent: str | None, tool: str | None = None) -> str | None:
        """Return the id of a call that was asked about and of which nothing was told, or None.

        Args:
            call_id: the call's; None: the one that the agent asked about last.
            agent: that asked.
            tool: which it is of, where that is said.
        """
        with self._lock:
            if call_id is not None:
                asked = self._asked.find(call_id)
            else:
                asked = self._asked.latest(self._agent if agent is None else agent, tool)
        return asked.answer.call_id if asked is not None else None

    def is_settled(self, call_id: str) -> bool:
        """Return whether the call of this id has counted: because somebody said what became of it, or because nobody did."""
        with self._lock:
            return call_id in self._settled

    def made(self, call_id: str, result: Any, error: str | None, progress: bool | None, *, by_id: bool = True) -> Answer:
        """Say what came back from a call that was asked about.

        Args:
            call_id: the call's.
            result: what it returned; `NOT_RECORDED`: nothing is known of that.
            error: what it failed with.
            progress: whether it brought the agent further.
            by_id: the agent named the call by its id: others of its calls may be open meanwhile.
        """
        with self._lock:
            asked = self._asked.find(call_id)
            self._settled.told(call_id, asked.call.agent if asked is not None and by_id else None)
        return self.after_tool(result, error=error, progress=progress, call=call_id)

    def told_late(self, call_id: str, agent: str | None, progress: bool | None = None) -> Answer:
        """Say what became of a call that has counted: it does not count again, and only what it declares is heard."""
        with self._lock:
            is_news = self._settled.told_late(call_id)
        if is_news and progress is not None:
            self._declare(progress)
        return replace(self.now(agent), counted_before=True)

    def skipped(self, call_id: str) -> Answer:
        """Say that a call was not made because of the answer."""
        with self._lock:
            self._settled.told(call_id)
        return self.skip_tool(call_id)

    def note(self, text: str) -> None:
        """Keep what the agent says of the end of its run, for the report."""
        if not self.has_ended:
            self._handed_over = text or "handed to a person"

    def heard(self, pattern: Pattern, agent: str | None) -> Answer:
        """Say that the model was given the message of an answer about this pattern."""
        who = self._agent if agent is None else agent
        with self._lock:
            answer = self._run.now(who)
            if answer.finding is not None and answer.pattern is pattern:
                self._run.told(answer)
        return self.now(agent)

    def now(self, agent: str | None) -> Answer:
        """Return what is to be said now, when no call is asked about."""
        return self._now(self._agent if agent is None else agent)

    def _settle(self, agent: str) -> None:
        with self._lock:
            due, open_still = self._settled.due(self._asked.take_here(agent), agent)
            for asked in open_still:
                self._asked.remember(asked)
        for asked in due:
            self._close(asked)

    def _asked_here(self, *, begun_only: bool = False) -> list[Asked]:
        with self._lock:
            return self._settled.counted(self._asked.take_here(None, begun_only=begun_only))

    def _tool_call(self, name: str, arguments: Any, call_id: str | None, agent: str) -> Call:
        call = super()._tool_call(name, arguments, call_id, agent)
        text = msgspec.json.encode(call.reading.arguments)
        if len(text) <= _ARGUMENT_BYTES:
            return call
        kept = text[:_ARGUMENT_BYTES].decode("utf-8", "ignore")
        return call._replace(reading=replace(call.reading, arguments=kept))

    def _tell(self, alerts: tuple[Alert, ...]) -> None:
        for alert in alerts:
            self._hand(replace(alert, by_guard=True))

    def _tell_end(self, alerts: tuple[Alert, ...]) -> None:
        self._tell(alerts)
