"""The last tool calls of an agent, as far as patterns over several calls look back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from otel_processor.detection.asking import Asked, asked
from otel_processor.model import Effect

_CALLS = 48


@dataclass(slots=True, eq=False)
class Past:
    """A tool call that was made; not changed any more once it is part of a trail."""

    step: int
    span_id: str
    tool: str
    effect: Effect
    signature: str | None
    arguments: str
    """Text of the argument values, of bounded length; empty where they are not recorded."""
    fingerprint: str | None
    failed: bool
    is_question: bool
    """It looks something up by words."""
    content: int | None
    """Hash of a long text that it writes; of use within the process only."""
    addressee: str | None = None
    """Whom it writes to, where its arguments say it."""
    progress: bool | None = None
    news: bool | None = None
    """Whether the result brought something new, whatever that meant for the run; None without a result."""
    stirred: bool = False
    """It answered otherwise than the same call before, ids aside."""
    _asked: Asked | None = None

    @property
    def asked(self) -> Asked:
        """The words of its arguments."""
        if self._asked is None:
            self._asked = asked(self.arguments)
        return self._asked


class Trail:
    """Bounded; owned by its `AgentState`."""

    __slots__ = ("_calls", "_since_change")

    def __init__(self) -> None:
        self._calls: deque[Past] = deque(maxlen=_CALLS)
        self._since_change = 0

    def copy(self) -> Trail:
        """Return a trail of its own with the same calls."""
        twin = Trail()
        twin._calls, twin._since_change = self._calls.copy(), self._since_change
        return twin

    def add(self, call: Past) -> None:
        """Remember the latest call."""
        self._calls.append(call)
        self._since_change += 1

    def something_changed(self) -> None:
        """The call that comes next changed something: those before it are told apart from those after it."""
        self._since_change = 0

    def backwards(self) -> Iterator[Past]:
        """The calls, latest first."""
        return reversed(self._calls)

    def of_tool(self, tool: str, limit: int, *, since_change: bool = False) -> list[Past]:
        """Return the latest calls of a tool, latest first; of those since something changed where that is asked."""
        found = []
        for back, past in enumerate(reversed(self._calls)):
            if since_change and back >= self._since_change:
                break
            if past.tool == tool:
                found.append(past)
                if len(found) >= limit:
                    break
        return found

    def __len__(self) -> int:
        return len(self._calls)

    def __getitem__(self, back: int) -> Past:
        """Return a call by how far back it lies: -1 is the latest."""
        return self._calls[back]
