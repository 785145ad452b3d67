"""Runs that go on after a restart of the process: what they did before comes from outside, without making the agent wait."""

from __future__ import annotations

from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from otel_processor.model import Alert, Call
    from otel_processor.runs.tracker import RunTracker

FIRST_WAIT_SECONDS = 1.0
"""How long the first call of a run that may be older than the process waits for what was before: the first such call of the
process, while the database engine is loaded."""

WAIT_SECONDS = 0.2
"""How long the first call of each further one waits."""

_SINCE = 64
"""Calls that are remembered while that is not known; beyond them the run goes on without."""


class Earlier(Protocol):
    """Knows how runs stood before this process; `recording.earlier.EarlierRuns` does."""

    def start(self) -> None:
        """Begin to look; returns at once."""

    def look(self, wait_seconds: float) -> None:
        """Wait until it is known which runs there were, no longer than that."""

    def run_of_conversation(self, service: str, conversation_id: str, start_ns: int) -> str | None:
        """Return the run that a conversation goes on with, or None; returns at once."""

    def recall(self, run_id: str) -> Future[RunTracker | None] | None:
        """Return how a run stood, once that is known; None: it did not exist."""


class Recall:
    """What is being found out about one run; its owner holds the lock, but for waiting."""

    __slots__ = ("_answer", "_since", "_waited")

    def __init__(self, answer: Future[RunTracker | None]) -> None:
        self._answer = answer
        self._since: list[tuple[Call, str | None]] = []
        self._waited = False

    def wait(self, seconds: float) -> bool:
        """Wait for the answer no longer than that, the first time; return whether it was that."""
        if self._waited:
            return False
        self._waited = True
        wait([self._answer], seconds)
        return True

    @property
    def is_due(self) -> bool:
        """Whether the answer is there, or is not waited for any longer."""
        return self._answer.done() or len(self._since) >= _SINCE

    def note(self, call: Call, task: str | None) -> None:
        """Remember a call that was made in the meantime."""
        self._since.append((call, task))

    def resumed(self, now: RunTracker, agent: str) -> tuple[RunTracker, tuple[Alert, ...]]:
        """Return the run as it stands with all that was before, and alerts that were not told for want of it.

        Args:
            now: how it stands without.
            agent: the outermost agent that goes on with the run; calls of one that died and never told its name count as its own.
        """
        before = self._answer.result() if self._answer.done() else None
        if before is None:
            return now, ()
        if agent and before.state.knows_agent("") and not before.state.knows_agent(agent):
            before.state.rename_agent("", agent)
        told: list[Alert] = []
        for call, task in self._since:
            told.extend(before.observe(call, task=task)[1])
        return before, tuple(told)
