"""One run under guard: what detection says of it, and what is done about that."""

from __future__ import annotations

from dataclasses import replace

from otel_processor.detection.bounded import RecentMap
from otel_processor.guard.answer import Answer, fine
from otel_processor.guard.history import History
from otel_processor.guard.ladder import GRAVITY, Ladder
from otel_processor.guard.messages import for_model
from otel_processor.guard.report import Report
from otel_processor.model import Action, Alert, Call, CallOutcome, Mode, Pattern, Role, StopReason, Verdict
from otel_processor.policy import Policy
from otel_processor.runs.tracker import RunTracker

_AGENTS = 64

_OF_A_CALL = frozenset({Pattern.HARD_LOOP, Pattern.SOFT_LOOP, Pattern.CYCLE, Pattern.RETRY_STORM})
"""Patterns that are held against a certain call; another one may be the change of approach that was asked for."""


class GuardedRun:
    """The guard's memory of one run. Not thread-safe: its owner holds the lock. Asking changes nothing."""

    __slots__ = ("_ladders", "_shown", "goal", "history", "mode", "policy", "stopped", "task", "tracker")

    def __init__(self, tracker: RunTracker, policy: Policy, mode: Mode, *, goal: str = "", task: str | None = None) -> None:
        self.tracker = tracker
        self.policy = policy
        self.mode = mode
        self.goal = goal
        self.task = task
        self.history = History()
        self.stopped: Verdict | None = None
        """What stopped the run: for good in the mode `enforce`, else what would have."""
        self._ladders: RecentMap[str, Ladder] = RecentMap(_AGENTS)
        self._shown: Verdict | None = None

    @property
    def is_over(self) -> bool:
        """Whether the run was stopped for good."""
        return self.stopped is not None and self.mode is Mode.ENFORCE

    @property
    def last_finding(self) -> Verdict | None:
        """The latest finding that was held against the run."""
        return self.stopped or self._shown

    def answer(self, call: Call, call_id: str | None = None) -> Answer:
        """Return what is to be done about a tool call that an agent is about to make."""
        if self.is_over and self.stopped is not None:
            return self._answer(self.stopped, Action.STOP, call.agent, call_id)
        ladder = self._ladders.peek(call.agent) or Ladder(self.policy.nudges_before_stop)
        asked = self.tracker.state.ask(call)
        if asked is not None and self._is_about(asked, call):
            return self._answer(asked, ladder.answer_to(asked), call.agent, call_id, about_call=True)
        if asked is not None and asked.pattern is Pattern.LIMIT:
            return self._answer(asked, Action.STOP, call.agent, call_id, quiet=Pattern.LIMIT in ladder.told)
        finding = ladder.untold()
        if asked is not None and asked.pattern not in ladder.told | _OF_A_CALL and not self._stands(asked):
            finding = max(filter(None, (asked, finding)), key=lambda one: GRAVITY.index(one.action))
        if finding is None and self.stopped is not None:
            return self._answer(self.stopped, Action.STOP, call.agent, call_id, quiet=True)
        if finding is None:
            return fine(call_id)
        return self._answer(finding, self._first_word(finding, ladder), call.agent, call_id)

    def held_against(self, call: Call) -> Verdict | None:
        """Return what was to be said against a call that was made all the same; asked before it is taken in."""
        if call.kind is not Role.TOOL:
            return None
        asked = self.tracker.state.ask(call)
        return asked if asked is not None and self._is_about(asked, call) else None

    def took(self, call: Call, outcome: CallOutcome, held: Verdict | None) -> tuple[Alert, ...]:
        """Take in a call that was made.

        Args:
            call: the model or tool call.
            outcome: what detection says of it.
            held: what `held_against` said of it before.

        Returns:
            what is worth telling beyond what detection tells.
        """
        self.history.took(call, outcome)
        ladder = self._ladder(call.agent)
        for pattern in outcome.resolved:
            ladder.close(pattern)
        if outcome.progress is True:
            ladder.step_down()
            if not self.is_over:
                self.stopped = None
        if call.kind is Role.MODEL and call.reading.text is not None:
            # What was advised in the last turn was heard by now.
            ladder.told.update(pattern for pattern, one in ladder.findings.items() if one.action is Action.COMPRESS)
        for verdict in outcome.verdicts:
            ladder.open(verdict)
        grave = [verdict for verdict in outcome.verdicts if verdict.stop_reason is not None]
        if grave:
            finding = max(grave, key=lambda one: (one.pattern is Pattern.LIMIT, GRAVITY.index(one.action)))
            self._shown = finding
            return self._stop(finding, call) if ladder.hold(finding) else ()
        failed = call.kind is Role.TOOL and (outcome.progress is False or (outcome.progress is None and held is not None))
        return self._stop(held or ladder.nudged, call) if failed and ladder.fail() else ()

    def refused(self, call: Call, answer: Answer, *, outcome: CallOutcome | None = None) -> tuple[Alert, ...]:
        """Take in that a call was not made because of an answer, and that the model was given its message.

        Args:
            call: as it was asked about.
            answer: what was answered.
            outcome: what detection says of it, where it has seen the refused call as one that failed.

        Returns:
            what is worth telling.
        """
        self.history.refused(call)
        finding = answer.finding
        if finding is None or self.is_over:
            return ()
        self._shown = finding
        ladder = self._ladder(call.agent)
        for verdict in outcome.verdicts if outcome is not None else ():
            ladder.open(verdict)
            ladder.told.add(verdict.pattern)
        ladder.told.add(finding.pattern)
        stops = ladder.hold(finding) if answer.about_call else answer.advised is Action.STOP
        if stops:
            return self._stop(finding, call)
        if not answer.about_call or finding.pattern in self.tracker.open_alerts:
            return ()
        return (self.tracker.tell(finding, call, task=self.task),)

    def told(self, answer: Answer) -> None:
        """Take in that the model was given an answer's message, so that no call need be refused for it."""
        if answer.finding is not None:
            self._ladder(answer.agent).told.add(answer.finding.pattern)

    def now(self, agent: str) -> Answer:
        """Return what is to be said after an event, when no call is asked about."""
        ladder = self._ladders.peek(agent) or Ladder(self.policy.nudges_before_stop)
        if self.stopped is not None:
            return self._answer(self.stopped, Action.STOP, agent, None, quiet=self.stopped.pattern in ladder.told)
        finding = ladder.untold()
        return fine() if finding is None else self._answer(finding, self._first_word(finding, ladder), agent, None)

    def report(self, reason: StopReason, *, seconds: float, note: str) -> Report:
        """Return what happened so far, for a person.

        Args:
            reason: why the run ended, or that it is going on.
            seconds: that it took.
            note: what the agent said of its end, which goes before what was found.
        """
        history, finding, wasted = self.history, self.last_finding, self.history.wasted
        wasted_tokens = None
        if wasted.input_tokens is not None or wasted.output_tokens is not None:
            wasted_tokens = (wasted.input_tokens or 0) + (wasted.output_tokens or 0)
        return Report(
            run_id=self.tracker.run_id,
            goal=self.goal,
            stop_reason=reason,
            flagged_reason=self.tracker.flagged_reason,
            message=note or (finding.message if finding is not None else ""),
            steps=self.tracker.state.steps,
            tool_calls=history.tool_calls,
            refused_calls=history.refused_calls,
            seconds=seconds,
            attempts=history.attempts,
            attempts_left_out=history.attempts_left_out,
            partial=history.partial,
            input_tokens=history.spent.input_tokens,
            output_tokens=history.spent.output_tokens,
            cost_usd=history.spent.cost_usd,
            wasted_tokens=wasted_tokens,
            wasted_cost_usd=wasted.cost_usd,
        )

    def _first_word(self, finding: Verdict, ladder: Ladder) -> Action:
        """Return what is said of what came before: a call that is no part of it is no failure."""
        if finding.stop_reason is None:
            return finding.action
        return Action.STOP if finding.pattern is Pattern.LIMIT or self._stops_at_once(finding, ladder) else Action.NUDGE

    def _stops_at_once(self, finding: Verdict, ladder: Ladder) -> bool:
        return ladder.failures_allowed == 0 and finding.action is Action.STOP

    def _is_about(self, asked: Verdict, call: Call) -> bool:
        """Return whether a verdict is held against this very call, and does not just stand since an earlier one."""
        if asked.pattern not in _OF_A_CALL:
            return False
        signature = asked.evidence.get("signature")
        return signature == call.signature if signature is not None else not self._stands(asked)

    def _stands(self, asked: Verdict) -> bool:
        return any(asked == ladder.findings.get(asked.pattern) for ladder in self._ladders.values())

    def _stop(self, finding: Verdict | None, call: Call) -> tuple[Alert, ...]:
        if finding is None:
            return ()
        was_told = self.stopped is not None
        self.stopped = finding
        if was_told or self.mode is not Mode.ENFORCE:
            return ()
        message = f"the guard stopped the run: {finding.message}"
        notice = replace(finding, action=Action.STOP, severity="critical", message=message)
        return (self.tracker.tell(notice, call, task=self.task),)

    def _answer(
        self,
        finding: Verdict,
        advised: Action,
        agent: str,
        call_id: str | None,
        *,
        about_call: bool = False,
        quiet: bool = False,
    ) -> Answer:
        """Return the answer as this mode gives it. `quiet`: the model knows, so that only a stop is left to say."""
        if self.stopped is not None:
            advised = Action.STOP
        action = advised
        if self.mode is Mode.OBSERVE:
            action = Action.CONTINUE
        elif self.mode is Mode.NUDGE and advised is Action.STOP:
            action = Action.CONTINUE if quiet else Action.NUDGE
        goes_on = action is Action.CONTINUE
        advice = self._for_model(finding, advised)
        return Answer(
            pattern=finding.pattern,
            action=action,
            advised=advised,
            advised_message=advice,
            # Whoever gives each message to the model must not stop a run that may go on.
            stop_reason=None if goes_on else finding.stop_reason,
            severity=finding.severity,
            message="" if goes_on else advice if action is advised else self._for_model(finding, action),
            evidence=finding.evidence,
            call_id=call_id,
            agent=agent,
            about_call=about_call,
            finding=finding,
        )

    def _for_model(self, finding: Verdict, action: Action) -> str:
        if action is Action.CONTINUE:
            return ""
        return for_model(finding, action, goal=self.goal, error=self.history.last_error)

    def _ladder(self, agent: str) -> Ladder:
        ladder = self._ladders.get(agent)
        if ladder is None:
            ladder = Ladder(self.policy.nudges_before_stop)
            self._ladders.put(agent, ladder)
        return ladder
