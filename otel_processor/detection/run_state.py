"""What one run has done so far, bounded in memory, and what each further call means for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otel_processor.detection.agent_state import AgentState
from otel_processor.detection.asking import LOOKED_AT_CHARS
from otel_processor.detection.bounded import RecentMap
from otel_processor.detection.cycle import find_cycle, may_become_a_cycle
from otel_processor.detection.failing import Said, what_failed
from otel_processor.detection.hard_loop import find_hard_loop
from otel_processor.detection.limits import Usage, find_limit, has_limits
from otel_processor.detection.no_progress import find_no_progress
from otel_processor.detection.progress import News, judge, tells_much
from otel_processor.detection.repeats import Repeats
from otel_processor.detection.retry_storm import find_retry_storm
from otel_processor.detection.reworded import asks_again, find_reworded
from otel_processor.detection.same_failure import find_same_failure
from otel_processor.detection.soft_loop import find_copies, find_soft_loop
from otel_processor.detection.spend_spike import find_spend_spike
from otel_processor.detection.talk import Talk
from otel_processor.detection.trail import Past
from otel_processor.model import Action, Call, CallOutcome, Effect, ErrorClass, History, Pattern, Role, Verdict
from otel_processor.policy import Policy

_AGENTS = 64
_GRAVITY = (Action.CONTINUE, Action.NUDGE, Action.COMPRESS, Action.STOP)

_MAY_CHANGE = frozenset({Effect.WRITE, Effect.UNKNOWN})

_LASTING = frozenset({Pattern.LIMIT, Pattern.SPEND_SPIKE})
"""Patterns that progress does not resolve: what is used up stays used up."""

_LASTING_WRITES = _LASTING | {Pattern.RETRY_STORM, Pattern.SOFT_LOOP}


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
        self._open: dict[Pattern, tuple[str, Verdict]] = {}
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
        twin._open, twin.steps, twin.saw_model = dict(self._open), self.steps, self.saw_model
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
        self._open = {pattern: (new if owner == old else owner, verdict) for pattern, (owner, verdict) in self._open.items()}

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
            held = self._held_against(agent, call)
            if held is not None:
                return held
        return self.standing

    def _held_against(self, agent: AgentState, call: Call) -> Verdict | None:
        """Return what would be told if the call were made and answered as before."""
        policy, wanted, trail = self.policy, self.policy.patterns, agent.trail
        past = agent.past(call)
        before = next(iter(trail.of_tool(past.tool, 1)), None)
        past.progress = past.news = False
        past.fingerprint = before.fingerprint if before is not None else None
        last = agent.failures.last(past.tool)
        if last is not None and last.signature == call.signature and Pattern.RETRY_STORM in wanted:
            found = find_retry_storm(call._replace(error_class=last.error_class), agent.failures.once_more(past.tool), policy)
            if found is not None:
                return found
        repeats = agent.repeats.peek(call.signature)
        if repeats is not None and Pattern.HARD_LOOP in wanted and not 0 < repeats.failures < policy.transient_tolerance:
            found = find_hard_loop(call, False, repeats.once_more(), policy)
            if found is not None:
                return found
        if Pattern.SOFT_LOOP in wanted and past.content is not None:
            return find_copies(past, trail, policy)
        found = find_soft_loop(past, trail, policy) if Pattern.SOFT_LOOP in wanted else None
        if found is None and Pattern.SEMANTIC_LOOP in wanted:
            found = find_reworded(past, trail, policy)
        return found if found is not None or Pattern.CYCLE not in wanted else find_cycle(past, trail, policy)

    def _step(self, agent: AgentState) -> None:
        self.steps += 1
        agent.streak.enter(self.steps)

    # A tool call: is it progress, does it repeat, and what is there to tell?

    def _tool_call(self, agent: AgentState, call: Call) -> CallOutcome:
        agent.turns.acted()
        self.usage.add(call, self.steps)
        past = agent.past(call)
        said = what_failed(call)
        news = agent.novelty.look(call, self.policy, asks_again=lambda: asks_again(past, agent.trail))
        progress, tolerated, repeats = self._weigh(agent, call, past, news, said)
        past.progress, past.news, past.stirred = progress, news.is_new, news.stirred
        streak, same = agent.take_failure(call, said, moved=progress is True, learned=news.is_new is True and tells_much(call))
        agent.streak.answered(call)
        resolved: tuple[Pattern, ...] = ()
        if progress is True:
            agent.moved()
            self._talk.something_new()
            resolved = self._resolve(call)
        elif progress is False:
            agent.streak.flat(call)
        elif tolerated or call.effect is Effect.POLL:
            agent.turns.something_new()
        found = [*self._of_the_run(call)]
        if streak is not None and Pattern.RETRY_STORM in self.policy.patterns:
            storm = find_retry_storm(call, streak, self.policy)
            found.append(storm if storm is not None or same is None else find_same_failure(call, same, self.policy.same_failures))
        if not tolerated and self._may_be_a_repeat(past, repeats):
            found.extend(self._verdicts(agent, call, past, repeats))
        agent.trail.add(past)
        return CallOutcome(
            step=agent.step,
            progress=progress,
            repeats=None if repeats is None else max(repeats.count, 1),
            flat_steps=agent.streak.steps,
            verdicts=self._told(call.agent, found),
            standing=self.standing,
            resolved=resolved,
        )

    def _weigh(
        self, agent: AgentState, call: Call, past: Past, news: News, said: Said | None
    ) -> tuple[bool | None, bool, Repeats | None]:
        """Return whether the call is progress, whether it is a failure that is tolerated, and how often it was made."""
        policy = self.policy
        repeats = agent.repeats.find(call.signature)
        succeeded = said is None
        writes_new = True
        if call.effect is Effect.WRITE and succeeded and news.is_first:
            # What is too long to be looked at whole may well hold something new.
            writes_new = agent.novelty.writes_new(past.asked) or len(past.arguments) >= LOOKED_AT_CHARS
        count = repeats.count if repeats is not None else 0
        progress = judge(call, news, policy, repeats=count, writes_new=writes_new, is_question=past.is_question, said=said)
        failed_for_now = call.error_class is ErrorClass.TRANSIENT and call.reading.progress_declared is None
        tolerated = failed_for_now and (repeats.failures if repeats is not None else 0) < policy.transient_tolerance
        if tolerated:
            progress = None
        elif policy.repeat_scope == "change":
            # Doing something different may have changed what the same call answers: test, edit, test is work.
            does_something = succeeded and call.effect in _MAY_CHANGE and progress is not False
            if progress or (does_something and news.is_first and not agent.did_the_same(past, news)):
                agent.something_changed(call)
                repeats = None
            elif does_something and call.effect is Effect.UNKNOWN and agent.follows_another(call):
                agent.may_have_changed(call)
        if call.signature is not None:
            repeats = self._count(agent, call, news, repeats, failed_for_now=failed_for_now, tolerated=tolerated)
        return progress, tolerated, repeats

    def _count(
        self, agent: AgentState, call: Call, news: News, repeats: Repeats | None, *, failed_for_now: bool, tolerated: bool
    ) -> Repeats:
        signature = call.signature or ""
        if self.policy.repeat_scope == "consecutive":
            repeats = agent.repeats.only(signature)
        elif repeats is None:
            repeats = agent.repeats.begin(signature)
        if failed_for_now:
            repeats.saw_failure(agent.step, call.span_id, tolerated=tolerated)
        elif self.policy.repeat_scope == "change" and repeats.count and self._stirred(agent, call, news, repeats):
            repeats.saw_stir(agent.step, call.span_id)
        else:
            repeats.saw(agent.step, call.span_id)
        return repeats

    def _stirred(self, agent: AgentState, call: Call, news: News, repeats: Repeats) -> bool:
        """Return whether the answer moved a little: that is no news, but something is going on; not so for ever."""
        if not news.stirred or repeats.stirred >= self.policy.hard_loop_poll_repeats:
            return False
        if call.reading.progress_declared is False:
            return False
        if call.effect is Effect.POLL:
            return not news.was_seen
        # A failure that is worded otherwise tells something only where something was done about it.
        return not call.reading.is_error or (len(agent.trail) > 0 and agent.trail[-1].signature != call.signature)

    def _may_be_a_repeat(self, past: Past, repeats: Repeats | None) -> bool:
        """Return whether there is anything to look for; most calls are made once and bring something new."""
        if past.content is not None or past.progress is False or (repeats is not None and repeats.count > 1):
            return True
        return past.progress is not True and (past.news is False or (past.news is None and past.is_question))

    def _verdicts(
        self,
        agent: AgentState,
        call: Call,
        past: Past,
        repeats: Repeats | None,
    ) -> Iterator[Verdict | None]:
        policy, wanted, trail = self.policy, self.policy.patterns, agent.trail
        if past.news is None and past.progress is None and (repeats is None or repeats.count == 1):
            # Its result is not recorded, and it was made once: only what it asks can be compared.
            yield find_reworded(past, trail, policy) if Pattern.SEMANTIC_LOOP in wanted else None
            return
        if past.content is not None and Pattern.SOFT_LOOP in wanted:
            yield find_copies(past, trail, policy)
        if repeats is not None and Pattern.HARD_LOOP in wanted:
            found = find_hard_loop(call, past.progress, repeats, policy)
            # A-B-A-B-A is told as what it is, one call later.
            if found is not None and not (Pattern.CYCLE in wanted and may_become_a_cycle(past, trail, policy)):
                yield found
        if past.progress is True:
            return
        if Pattern.CYCLE in wanted and repeats is not None:
            yield find_cycle(past, trail, policy)
        if Pattern.SOFT_LOOP in wanted:
            yield find_soft_loop(past, trail, policy)
        if Pattern.SEMANTIC_LOOP in wanted:
            yield find_reworded(past, trail, policy)
        if past.progress is False and Pattern.NO_PROGRESS in wanted:
            yield find_no_progress(agent.streak, policy)

    def _of_the_turn(self, agent: AgentState, call: Call) -> Iterator[Verdict | None]:
        yield from self._of_the_run(call)
        yield from agent.turns.turn(call.reading, step=self.steps, span_id=call.span_id, policy=self.policy)
        yield self._talk.turn(call.reading, step=self.steps, span_id=call.span_id, policy=self.policy)

    def _of_the_run(self, call: Call) -> Iterator[Verdict | None]:
        if self._has_limits:
            yield find_limit(self.usage, self.policy, call.span_id)
        if self.history is not None and Pattern.SPEND_SPIKE in self.policy.patterns:
            yield find_spend_spike(self.usage, self.history, self.policy, call.span_id)

    def _told(self, agent: str, found: Iterable[Verdict | None]) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in found if verdict is not None and self._opens(agent, verdict))

    def _opens(self, agent: str, verdict: Verdict) -> bool:
        """Keep the verdict; it is told when nothing of its pattern is open yet, or when it became graver."""
        known = self._open.get(verdict.pattern)
        if known is not None and _GRAVITY.index(known[1].action) >= _GRAVITY.index(verdict.action):
            return False
        self._open[verdict.pattern] = (agent, verdict)
        return True

    def _resolve(self, call: Call) -> tuple[Pattern, ...]:
        if not self._open:
            return ()
        # What is written may be just what does not help.
        lasting = _LASTING_WRITES if call.effect is Effect.WRITE else _LASTING
        over = tuple(pattern for pattern, (owner, _) in self._open.items() if owner == call.agent and pattern not in lasting)
        for pattern in over:
            del self._open[pattern]
        return over

    @property
    def standing(self) -> Verdict | None:
        """The gravest verdict that is open."""
        if not self._open:
            return None
        return max((verdict for _, verdict in self._open.values()), key=lambda v: _GRAVITY.index(v.action), default=None)

    @property
    def open_patterns(self) -> tuple[Pattern, ...]:
        """Patterns whose verdict is not resolved."""
        return tuple(self._open)
