"""What one run has done so far, bounded in memory, and what each further call means for it."""

from __future__ import annotations

from collections.abc import Iterator

from otel_processor.bug_reports import report_bug
from otel_processor.detection.agent_state import AgentState
from otel_processor.detection.bounded import RecentMap
from otel_processor.detection.failing import FailureStreak, what_failed
from otel_processor.detection.limits import Usage, find_limit, has_limits
from otel_processor.detection.open_verdicts import OpenVerdicts
from otel_processor.detection.progress import tells_much
from otel_processor.detection.retry_storm import find_retry_storm
from otel_processor.detection.reworded import how_new
from otel_processor.detection.same_failure import SameFailure, find_same_failure
from otel_processor.detection.spend_spike import find_spend_spike
from otel_processor.detection.talk import Talk
from otel_processor.detection.trail import Past
from otel_processor.detection.verdicts import found_in, held_against, may_be_a_repeat
from otel_processor.detection.weighing import Weight, weigh
from otel_processor.model import Call, CallOutcome, Effect, History, Pattern, Role, Verdict
from otel_processor.policy import Policy

_AGENTS = 64

_WORDS_OF_AN_AGENT = 100
"""What the counters of an agent take, in words."""


class RunState:
    """One run, fed call by call in logical order. Not thread-safe: its owner holds the lock.

    Memory is bounded by the limits of its parts (about 2 MB for each of at most 64 agents that are remembered), and the
    work per call does not depend on how long the run is.
    """

    __slots__ = ("_agents", "_has_limits", "_open", "_talk", "history", "policy", "saw_model", "steps", "usage")

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._agents: RecentMap[str, AgentState] = RecentMap(_AGENTS)
        self._open = OpenVerdicts()
        self._has_limits = has_limits(policy) and Pattern.LIMIT in policy.patterns
        self._talk = Talk()
        self.usage = Usage()
        self.history: History | None = None
        """What the task's own healthy runs used, where somebody knows it."""
        self.steps = 0
        self.saw_model = False

    def copy(self) -> RunState:
        """Return a state of its own that goes on from here."""
        twin = RunState(self.policy)
        for agent, state in self._agents.items():
            twin._agents.put(agent, state.copy())
        twin._open, twin.steps, twin.saw_model = self._open.copy(), self.steps, self.saw_model
        twin.usage, twin.history, twin._talk = self.usage.copy(), self.history, self._talk.copy()
        return twin

    def knows_agent(self, agent: str) -> bool:
        """Return whether an agent of this name has made a call."""
        return agent in self._agents

    def rename_agent(self, old: str, new: str) -> None:
        """Carry an agent's counters on under another name, once its name is known."""
        state = self._agents.pop(old)
        if state is not None:
            self._agents.put(new, state)
        self._open.rename_agent(old, new)

    @property
    def weight(self) -> int:
        """How much is remembered, in words of some 70 bytes."""
        return _WORDS_OF_AN_AGENT * len(self._agents) + sum(agent.novelty.weight for agent in self._agents.values())

    @property
    def counts_cost(self) -> bool:
        """Whether it matters what a model call cost."""
        return self.history is not None or self.policy.max_cost_usd is not None

    def observe(self, call: Call) -> CallOutcome:
        """Take in the next call and say what it means."""
        agent = self._agents.get(call.agent)
        if agent is None:
            agent = AgentState()
            self._agents.put(call.agent, agent)
        if call.kind is Role.MODEL:
            self.saw_model = True
            if self._talk.is_other_speaker(call.agent):
                agent.turns.acted()
            if not call.same_step or agent.step == 0:
                self._step(agent)
            self.usage.add(call, self.steps)
            return CallOutcome(
                step=agent.step,
                progress=None,
                repeats=None,
                flat_steps=agent.streak.steps,
                verdicts=self._told(call.agent, self._of_the_turn(agent, call)),
                standing=self.standing,
            )
        if not self.saw_model or agent.step == 0:
            # No model calls are recorded (for this agent): each tool call is a step of its own.
            self._step(agent)
            outcome = self._tool_call(agent, call)
            agent.streak.enter(0)
            return outcome
        return self._tool_call(agent, call)

    def ask(self, call: Call) -> Verdict | None:
        """Return what would be held against a call if it were made now and brought nothing new; changes nothing.

        That is what concerns this very call, or else the gravest verdict that stands.

        Args:
            call: a tool call without a result; or a model call, which would begin another step.
        """
        agent = self._agents.peek(call.agent)
        is_tool = call.kind is Role.TOOL
        if self._has_limits:
            begins_step = not is_tool or not self.saw_model or agent is None or agent.step == 0
            used = self.usage.copy()
            used.add(call, self.steps + begins_step)
            over = find_limit(used, self.policy)
            if over is not None:
                return over
        if is_tool and agent is not None:
            held = held_against(agent, call, self.policy)
            if held is not None:
                return held
        return self.standing

    def _step(self, agent: AgentState) -> None:
        self.steps += 1
        agent.streak.enter(self.steps)

    # A tool call: is it progress, does it repeat, and what is there to tell?

    def _tool_call(self, agent: AgentState, call: Call) -> CallOutcome:
        agent.turns.acted()
        self.usage.add(call, self.steps)
        past = agent.past(call)
        said = what_failed(call)
        news = agent.novelty.look(call, self.policy, how_new=lambda: how_new(past, agent.trail))
        weight = weigh(agent, call, past, news, said, self.policy)
        progress, tolerated, repeats = weight
        past.progress, past.news, past.stirred = progress, news.is_new, news.stirred
        streak, same = agent.take_failure(call, said, moved=progress is True, learned=news.is_new is True and tells_much(call))
        agent.streak.answered(call)
        resolved: tuple[Pattern, ...] = ()
        if progress is True:
            agent.moved()
            self._talk.something_new()
            resolved = self._open.resolved_by(call)
        elif progress is False:
            agent.streak.flat(call)
        elif tolerated or call.effect is Effect.POLL:
            agent.turns.something_new()
        verdicts = self._told(call.agent, self._of_the_call(agent, call, past, weight, streak, same))
        agent.trail.add(past)
        return CallOutcome(
            step=agent.step,
            progress=progress,
            repeats=None if repeats is None else max(repeats.count, 1),
            flat_steps=agent.streak.steps,
            verdicts=verdicts,
            standing=self.standing,
            resolved=resolved,
        )

    def _of_the_turn(self, agent: AgentState, call: Call) -> Iterator[Verdict | None]:
        yield from self._of_the_run(call)
        yield from agent.turns.turn(call.reading, step=self.steps, span_id=call.span_id, policy=self.policy)
        yield self._talk.turn(call.reading, step=self.steps, span_id=call.span_id, policy=self.policy)

    def _of_the_run(self, call: Call) -> Iterator[Verdict | None]:
        if self._has_limits:
            yield find_limit(self.usage, self.policy, call.span_id)
        if self.history is not None and Pattern.SPEND_SPIKE in self.policy.patterns:
            yield find_spend_spike(self.usage, self.history, self.policy, call.span_id)

    def _of_the_call(
        self,
        agent: AgentState,
        call: Call,
        past: Past,
        weight: Weight,
        streak: FailureStreak | None,
        same: SameFailure | None,
    ) -> Iterator[Verdict | None]:
        yield from self._of_the_run(call)
        if streak is not None and Pattern.RETRY_STORM in self.policy.patterns:
            storm = find_retry_storm(call, streak, self.policy)
            yield storm if storm is not None or same is None else find_same_failure(call, same, self.policy.same_failures)
        if not weight.tolerated and may_be_a_repeat(past, weight.repeats):
            yield from found_in(agent, call, past, weight.repeats, self.policy)

    def _told(self, agent: str, found: Iterator[Verdict | None]) -> tuple[Verdict, ...]:
        """Keep what is found and return what is to be told; a bug of one pattern costs what it would have said, no call."""
        told = []
        try:
            for verdict in found:
                if verdict is not None and self._open.opens(agent, verdict):
                    told.append(verdict)  # noqa: PERF401 - what was found before the bug is told
        except Exception:  # noqa: BLE001 - see above
            report_bug("detection")
        return tuple(told)

    @property
    def standing(self) -> Verdict | None:
        """The gravest verdict that is open."""
        return self._open.gravest

    @property
    def open_patterns(self) -> tuple[Pattern, ...]:
        """Patterns whose verdict is not resolved."""
        return self._open.patterns
