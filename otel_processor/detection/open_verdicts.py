"""The verdicts on a run that are not resolved, one for each pattern."""

from __future__ import annotations

from otel_processor.model import Action, Call, Effect, Pattern, Verdict

_GRAVITY = (Action.CONTINUE, Action.NUDGE, Action.COMPRESS, Action.STOP)

_LASTING = frozenset({Pattern.LIMIT, Pattern.SPEND_SPIKE})
"""Patterns that progress does not resolve: what is used up stays used up."""

_LASTING_WRITES = _LASTING | {Pattern.RETRY_STORM, Pattern.SOFT_LOOP}
"""Patterns that a write does not resolve: what is written may be just what does not help."""


class OpenVerdicts:
    """Owned by its `RunState`."""

    __slots__ = ("_by_pattern",)

    def __init__(self) -> None:
        self._by_pattern: dict[Pattern, tuple[str, Verdict]] = {}

    def copy(self) -> OpenVerdicts:
        """Return verdicts of their own, the same."""
        twin = OpenVerdicts()
        twin._by_pattern = dict(self._by_pattern)
        return twin

    def rename_agent(self, old: str, new: str) -> None:
        """Carry what is open for an agent on under another name."""
        self._by_pattern = {
            pattern: (new if owner == old else owner, verdict) for pattern, (owner, verdict) in self._by_pattern.items()
        }

    def opens(self, agent: str, verdict: Verdict) -> bool:
        """Keep a verdict; it is told when nothing of its pattern is open yet, or when it became graver."""
        known = self._by_pattern.get(verdict.pattern)
        if known is not None and _GRAVITY.index(known[1].action) >= _GRAVITY.index(verdict.action):
            return False
        self._by_pattern[verdict.pattern] = (agent, verdict)
        return True

    def resolved_by(self, call: Call) -> tuple[Pattern, ...]:
        """Take out what a call that is progress resolves for its agent."""
        if not self._by_pattern:
            return ()
        lasting = _LASTING_WRITES if call.effect is Effect.WRITE else _LASTING
        over = tuple(
            pattern for pattern, (owner, _) in self._by_pattern.items() if owner == call.agent and pattern not in lasting
        )
        for pattern in over:
            del self._by_pattern[pattern]
        return over

    @property
    def gravest(self) -> Verdict | None:
        """The one that asks for most, or None."""
        if not self._by_pattern:
            return None
        verdicts = [verdict for _, verdict in self._by_pattern.values()]
        return verdicts[0] if len(verdicts) == 1 else max(verdicts, key=lambda verdict: _GRAVITY.index(verdict.action))

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Patterns with an open verdict."""
        return tuple(self._by_pattern)
