"""retry_storm over the whole run: a tool fails for the same reason each time, whatever was tried in between."""

from __future__ import annotations

from typing import NamedTuple

from otel_processor.detection.bounded import RecentMap
from otel_processor.detection.failing import Said, says_the_same
from otel_processor.model import Action, Call, ErrorClass, Pattern, StopReason, Verdict

_TOOLS = 64
_REMEMBERED = 8


class SameFailure(NamedTuple):
    """How often a tool failed for one reason."""

    said: Said
    times: int
    answers: tuple[tuple[str | None, str], ...]
    """(signature, fingerprint) of the latest of them."""
    places: tuple[tuple[int, str], ...]


class SameFailures:
    """One reason for each tool; owned by its `AgentState`.

    Edits in between, and commands that work, do not set it back: they did not help. Something new that was read does, and so
    do a look-up of the tool that works and another answer to the same call.
    """

    __slots__ = ("_by_tool",)

    def __init__(self) -> None:
        self._by_tool: RecentMap[str, SameFailure] = RecentMap(_TOOLS)

    def copy(self) -> SameFailures:
        """Return failures of its own, the same."""
        twin = SameFailures()
        # An entry is replaced, never changed.
        twin._by_tool = self._by_tool.copy()
        return twin

    def learned(self) -> None:
        """Something new was found out: what is tried next may be another thing."""
        self._by_tool.clear()

    def worked(self, tool: str) -> None:
        """A call of this tool told something: that others fail says something of what was asked."""
        self._by_tool.pop(tool)

    def take_in(self, call: Call, said: Said, step: int) -> SameFailure | None:
        """Count a failure; return it where the tool failed for the same reason before."""
        tool = call.reading.tool or ""
        if call.evidence is None or call.error_class is ErrorClass.TRANSIENT:
            # What passes by itself has a tolerance of its own.
            return None
        answer = (call.signature, call.evidence.fingerprint)
        known = self._by_tool.get(tool)
        goes_on = known is not None and says_the_same(said, known.said) and not _moved(answer, known.answers)
        if known is None or not goes_on:
            self._by_tool.put(tool, SameFailure(said, 1, (answer,), ((step, call.span_id),)))
            return None
        answers, places = (*known.answers, answer)[-_REMEMBERED:], (*known.places, (step, call.span_id))[-_REMEMBERED:]
        now = SameFailure(said, known.times + 1, answers, places)
        self._by_tool.put(tool, now)
        return now


def _moved(answer: tuple[str | None, str], answers: tuple[tuple[str | None, str], ...]) -> bool:
    """Return whether the same call answered otherwise the last time."""
    before = next((fingerprint for signature, fingerprint in reversed(answers) if signature == answer[0]), None)
    return before is not None and before != answer[1]


def find_same_failure(call: Call, failures: SameFailure, limit: int) -> Verdict | None:
    """Return a verdict when a tool failed for the same reason often enough, whatever was changed in between.

    Args:
        call: the latest.
        failures: its tool's failures for this reason.
        limit: the number from which that is told.
    """
    if failures.times < limit:
        return None
    tool = call.reading.tool or "a tool"
    return Verdict(
        pattern=Pattern.RETRY_STORM,
        action=Action.STOP,
        stop_reason=StopReason.RETRY_STORM,
        severity="critical",
        message=f"{tool} failed {failures.times} times for the same reason, whatever was tried in between",
        evidence={
            "tool": tool,
            "signature": call.signature,
            "failures": failures.times,
            "limit": limit,
            "error_class": str(call.error_class or ErrorClass.OTHER),
            "steps": [step for step, _ in failures.places],
            "span_ids": [span_id for _, span_id in failures.places],
        },
    )
