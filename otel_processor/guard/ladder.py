"""How far a run has got on the way from a first word to its end: nudge, a few more failures, stop."""

from __future__ import annotations

from otel_processor.model import Action, Pattern, Verdict

GRAVITY = (Action.CONTINUE, Action.NUDGE, Action.COMPRESS, Action.STOP)


class Ladder:
    """Where one agent of a run stands. Its owner holds the lock.

    The first finding that carries a stop reason is answered with a nudge. From then on each of these is one failure: a
    call that brought nothing new, a further finding, a call that was refused for what it is. The failure that fills
    `failures_allowed` stops the run. Progress leads back to the ground. With 0 allowed, the first finding that says stop
    stops.
    """

    __slots__ = ("failures", "failures_allowed", "findings", "nudged", "told")

    def __init__(self, failures_allowed: int) -> None:
        self.failures_allowed = failures_allowed
        self.failures = 0
        self.nudged: Verdict | None = None
        """The latest finding that counts; None: nobody was nudged since the last progress."""
        self.findings: dict[Pattern, Verdict] = {}
        """What detection said of this agent and has not taken back."""
        self.told: set[Pattern] = set()
        """Of those, what the model was told."""

    def answer_to(self, finding: Verdict) -> Action:
        """Return what is answered to a call that this is held against; changes nothing."""
        if finding.stop_reason is None:
            return finding.action
        if finding.pattern is Pattern.LIMIT:
            return Action.STOP
        if self.failures_allowed == 0:
            return Action.STOP if finding.action is Action.STOP else Action.NUDGE
        if self.nudged is None:
            return Action.NUDGE
        return Action.STOP if self.failures + 1 >= self.failures_allowed else Action.NUDGE

    def hold(self, finding: Verdict) -> bool:
        """Hold a finding against the agent; return whether it stops the run."""
        if finding.stop_reason is None:
            return False
        stops = self.answer_to(finding) is Action.STOP
        if self.nudged is not None:
            self.failures += 1
        self.nudged = finding
        return stops

    def fail(self) -> bool:
        """Count a call that brought nothing new; return whether it stops the run."""
        if self.nudged is None:
            return False
        self.failures += 1
        return 0 < self.failures_allowed <= self.failures

    def step_down(self) -> None:
        """Something new came: begin again."""
        self.nudged = None
        self.failures = 0

    def open(self, finding: Verdict) -> None:
        """Remember what detection says, and that the model has not been told of it."""
        self.findings[finding.pattern] = finding
        if finding.pattern is not Pattern.LIMIT:
            # A limit is told before it is passed, and stays.
            self.told.discard(finding.pattern)

    def close(self, pattern: Pattern) -> None:
        """Forget what detection has taken back."""
        self.findings.pop(pattern, None)
        self.told.discard(pattern)

    def untold(self) -> Verdict | None:
        """Return the gravest finding that the model was not told."""
        waiting = [finding for finding in self.findings.values() if finding.pattern not in self.told]
        return max(waiting, key=lambda finding: GRAVITY.index(finding.action), default=None)
