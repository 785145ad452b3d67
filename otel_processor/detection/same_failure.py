"""retry_storm over the whole run: one call fails the same way each time, whatever was tried in between."""

from __future__ import annotations

from typing import NamedTuple

from otel_processor.detection.bounded import RecentMap
from otel_processor.model import Action, Call, ErrorClass, Pattern, StopReason, Verdict

_SIGNATURES = 256
_REMEMBERED = 8


class SameFailure(NamedTuple):
    """How often a call failed with the same answer since that answer last changed."""

    fingerprint: str
    times: int
    places: tuple[tuple[int, str], ...]


class SameFailures:
    """Bounded to the calls made last; owned by its `AgentState`. Edits in between do not set it back: they did not
    help. Something new that was read does.
    """

    __slots__ = ("_by_signature",)

    def __init__(self) -> None:
        self._by_signature: RecentMap[str, SameFailure] = RecentMap(_SIGNATURES)

    def copy(self) -> SameFailures:
        """Return failures of its own, the same."""
        twin = SameFailures()
        twin._by_signature = self._by_signature.copy()
        return twin

    def learned(self) -> None:
        """Something new was found out: what is tried next may be another thing."""
        self._by_signature.clear()

    def take_in(self, call: Call, step: int, *, failed: bool) -> SameFailure | None:
        """Count a call; return its failures where it failed again with the same answer."""
        if call.signature is None:
            return None
        known = self._by_signature.get(call.signature)
        if not failed or call.evidence is None:
            if known is not None:
                self._by_signature.pop(call.signature)
            return None
        print_ = call.evidence.fingerprint
        same = known is not None and known.fingerprint == print_
        count, places = (known.times, known.places) if same and known is not None else (0, ())
        now = SameFailure(print_, count + 1, (*places, (step, call.span_id))[-_REMEMBERED:])
        self._by_signature.put(call.signature, now)
        return now if same else None


def find_same_failure(call: Call, failures: SameFailure, limit: int) -> Verdict | None:
    """Return a verdict when a call failed with the same answer often enough, whatever was changed in between.

    Args:
        call: the latest.
        failures: its failures with this answer.
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
        message=f"{tool} failed {failures.times} times with the same answer, whatever was tried in between",
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
