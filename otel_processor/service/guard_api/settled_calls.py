"""Which calls of a run have counted, and which that nobody tells of may stay open when a step begins; bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from otel_processor.detection.bounded import RecentMap
from otel_processor.guard.asked import Asked

_CALLS: Final = 1_024
"""Ids that are remembered: a request that is sent again, or comes late, counts once."""

_AGENTS: Final = 64

_STEPS: Final = 32
"""Steps of its agent that a call may stay open for. Workers of one name cannot be told apart: each step may be another's."""

_EQUAL: Final = 4
"""Equal calls that may: an agent that tells of its failures alone is not to repeat itself unseen."""


class SettledCalls:
    """Owned by a guard, whose lock holds it together.

    An agent that has told what came back from a call, and named it by its id, will tell of others too: its calls stay open when
    a step begins, so that a step of one worker takes nothing from another that goes by the same name. Other agents only ask:
    their calls count as made with the next step, as nothing more will be heard of them.
    """

    def __init__(self) -> None:
        self._awaited_of: RecentMap[str, str | None] = RecentMap(_CALLS)
        self._telling: RecentMap[str, bool] = RecentMap(_AGENTS)

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._awaited_of

    def told(self, call_id: str, by: str | None = None) -> None:
        """Note that somebody said what became of a call; `by`: the agent that named it by its id."""
        self._awaited_of.put(call_id, None)
        if by is not None:
            self._telling.put(by, value=True)

    def told_late(self, call_id: str) -> bool:
        """Note the same of a call that has counted; return whether it was not said before."""
        agent = self._awaited_of.peek(call_id)
        self.told(call_id, agent)
        return agent is not None

    def counted(self, calls: list[Asked]) -> list[Asked]:
        """Note that calls count although nobody has said what became of them, and return them."""
        for asked in calls:
            self._awaited_of.put(str(asked.answer.call_id), asked.call.agent)
        return calls

    def due(self, calls: Sequence[Asked], agent: str) -> tuple[list[Asked], list[Asked]]:
        """Return which of an agent's open calls count now that it begins a step, and which stay open.

        Args:
            calls: in the order in which they were asked about.
            agent: whose they are.
        """
        due: list[Asked] = []
        stay: list[Asked] = []
        equal: Counter[str | None] = Counter()
        for asked in reversed(calls):
            equal[asked.call.signature] += 1
            is_due = (
                self._telling.get(agent) is None
                or asked.begun
                or not asked.answer.allows_call
                or asked.passed >= _STEPS
                or equal[asked.call.signature] > _EQUAL
            )
            # Under its id: the same asked about again in the next step, without one, is another call.
            (due if is_due else stay).append(
                asked if is_due else replace(asked, key=asked.answer.call_id, passed=asked.passed + 1)
            )
        return self.counted(due[::-1]), stay[::-1]
