"""What one run has done so far, bounded in memory, and what each further call means for it."""

from __future__ import annotations

from otel_processor.detection.bounded import RecentMap
from otel_processor.detection.hard_loop import find_hard_loop
from otel_processor.detection.no_progress import find_no_progress
from otel_processor.detection.progress import Novelty
from otel_processor.detection.repeats import RepeatCounter, Repeats
from otel_processor.model import Action, Call, CallOutcome, Effect, ErrorClass, Pattern, Role, Verdict
from otel_processor.policy import Policy

_AGENTS = 64
_REMEMBERED = 8
_GRAVITY = (Action.CONTINUE, Action.NUDGE, Action.COMPRESS, Action.STOP)


class AgentState:
    """The counters of one agent of a run: two sub-agents that make the same first call do not repeat each other."""

    __slots__ = ("flat_spans", "flat_steps", "flat_tools", "novelty", "repeats", "step", "step_counted", "step_moved", "streak")

    def __init__(self) -> None:
        self.novelty = Novelty()
        self.repeats = RepeatCounter()
        self.step = 0
        self.step_moved = False
        self.step_counted = False
        self.streak = 0
        self.flat_steps: list[int] = []
        self.flat_spans: list[str] = []
        self.flat_tools: list[str] = []

    def copy(self) -> AgentState:
        """Return counters of their own that stand at the same."""
        twin = AgentState()
        twin.novelty, twin.repeats = self.novelty.copy(), self.repeats.copy()
        twin.step, twin.step_moved, twin.step_counted, twin.streak = self.step, self.step_moved, self.step_counted, self.streak
        # These lists are replaced, never changed.
        twin.flat_steps, twin.flat_spans, twin.flat_tools = self.flat_steps, self.flat_spans, self.flat_tools
        return twin

    def enter(self, step: int) -> None:
        """Begin a step; the one before is closed."""
        self.step = step
        self.step_moved = self.step_counted = False

    def note_flat(self, call: Call) -> None:
        """Count the current step as flat, once, unless another of its calls moved."""
        if self.step_moved:
            return
        if not self.step_counted:
            self.step_counted = True
            self.streak += 1
            self.flat_steps = [*self.flat_steps, self.step][-_REMEMBERED:]
        self.flat_spans = [*self.flat_spans, call.span_id][-_REMEMBERED:]
        self.flat_tools = [*self.flat_tools, call.reading.tool or "a tool"][-_REMEMBERED:]

    def note_moved(self) -> None:
        """End the streak."""
        self.step_moved = True
        self.streak = 0
        self.flat_steps, self.flat_spans, self.flat_tools = [], [], []


class RunState:
    """One run, fed call by call in logical order. Not thread-safe: its owner holds the lock.

    Memory is bounded by the limits of its parts (about 2 MB for each of at most 64 agents that are remembered), and the
    work per call does not depend on how long the run is.
    """

    __slots__ = ("_agents", "_open", "policy", "saw_model", "steps")

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._agents: RecentMap[str, AgentState] = RecentMap(_AGENTS)
        self._open: dict[Pattern, tuple[str, Verdict]] = {}
        self.steps = 0
        self.saw_model = False

    def copy(self) -> RunState:
        """Return a state of its own that goes on from here."""
        twin = RunState(self.policy)
        for agent, state in self._agents.items():
            twin._agents.put(agent, state.copy())
        twin._open, twin.steps, twin.saw_model = dict(self._open), self.steps, self.saw_model
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

    def observe(self, call: Call) -> CallOutcome:
        """Take in the next call and say what it means."""
        agent = self._agents.get(call.agent)
        if agent is None:
            agent = AgentState()
            self._agents.put(call.agent, agent)
        if call.kind is Role.MODEL:
            self.saw_model = True
            if not call.same_step or agent.step == 0:
                self.steps += 1
                agent.enter(self.steps)
            return CallOutcome(step=agent.step, progress=None, repeats=None, flat_steps=agent.streak, standing=self._standing())
        if not self.saw_model or agent.step == 0:
            # No model calls are recorded (for this agent): each tool call is a step of its own.
            self.steps += 1
            agent.enter(self.steps)
            outcome = self._tool_call(agent, call)
            agent.step = 0
            return outcome
        return self._tool_call(agent, call)

    def ask(self, call: Call) -> Verdict | None:  # noqa: ARG002 - to come
        """Return what would be held against a tool call if it were made now and brought nothing new; changes nothing."""
        return self._standing()

    def _tool_call(self, agent: AgentState, call: Call) -> CallOutcome:
        signature = call.signature
        repeats = agent.repeats.find(signature)
        progress, is_first = agent.novelty.judge(call, self.policy, repeats=repeats.count if repeats is not None else 0)
        failed_for_now = call.error_class is ErrorClass.TRANSIENT and call.reading.progress_declared is None
        failures = repeats.failures if repeats is not None else 0
        tolerated = failed_for_now and failures < self.policy.transient_tolerance
        if tolerated:
            progress = None
        elif progress or (is_first and call.effect is Effect.UNKNOWN and call.error_class is None):
            # Doing something different may have changed what the same call answers: test, edit, test is work.
            agent.repeats.something_changed()
            repeats = None
        if signature is not None:
            if repeats is None:
                repeats = agent.repeats.begin(signature)
            if failed_for_now:
                repeats.saw_failure(agent.step, call.span_id, tolerated=tolerated)
            else:
                repeats.saw(agent.step, call.span_id)
        resolved: tuple[Pattern, ...] = ()
        if progress is True:
            agent.note_moved()
            resolved = self._resolve(call.agent)
        elif progress is False:
            agent.note_flat(call)
        # Most calls are made once and say nothing of a loop.
        may_be_told = progress is False or (progress is None and not tolerated and repeats is not None and repeats.count > 1)
        return CallOutcome(
            step=agent.step,
            progress=progress,
            repeats=None if repeats is None else max(repeats.count, 1),
            flat_steps=agent.streak,
            verdicts=self._verdicts(agent, call, progress, repeats) if may_be_told else (),
            standing=self._standing(),
            resolved=resolved,
        )

    def _verdicts(self, agent: AgentState, call: Call, progress: bool | None, repeats: Repeats | None) -> tuple[Verdict, ...]:
        found = []
        if repeats is not None:
            found.append(find_hard_loop(call, progress, repeats, self.policy))
        if progress is False:
            found.append(find_no_progress(agent.streak, agent.flat_steps, agent.flat_spans, agent.flat_tools, self.policy))
        return tuple(verdict for verdict in found if verdict is not None and self._opens(call.agent, verdict))

    def _opens(self, agent: str, verdict: Verdict) -> bool:
        """Keep the verdict; it is told when nothing of its pattern is open yet, or when it became graver."""
        known = self._open.get(verdict.pattern)
        if known is not None and _GRAVITY.index(known[1].action) >= _GRAVITY.index(verdict.action):
            return False
        self._open[verdict.pattern] = (agent, verdict)
        return True

    def _resolve(self, agent: str) -> tuple[Pattern, ...]:
        if not self._open:
            return ()
        over = tuple(pattern for pattern, (owner, _) in self._open.items() if owner == agent)
        for pattern in over:
            del self._open[pattern]
        return over

    def _standing(self) -> Verdict | None:
        if not self._open:
            return None
        return max((verdict for _, verdict in self._open.values()), key=lambda v: _GRAVITY.index(v.action), default=None)

    @property
    def open_patterns(self) -> tuple[Pattern, ...]:
        """Patterns whose verdict is not resolved."""
        return tuple(self._open)
