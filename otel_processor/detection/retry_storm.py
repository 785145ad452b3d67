"""retry_storm: a tool fails and is tried again as if nothing had been said."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, takewhile

from otel_processor.detection.failing import Failure, FailureStreak, Said, says_the_same
from otel_processor.model import Action, Call, Effect, ErrorClass, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

_GRAVE = 1
"""Failures after the first warning from which the advice is to stop."""

_OTHERWISE_ASKED = 2
"""Transient failures beyond what one call is let pass that calls with other arguments are."""

_TOLD = 8
"""Failures that the evidence lists."""


def find_retry_storm(call: Call, streak: FailureStreak, policy: Policy) -> Verdict | None:
    """Return a verdict when a tool's failures in a row are more than retrying is good for.

    Four ways: a transient failure of one call beyond what is tolerated; a failure that no retry heals, or that says the
    request itself is wrong, of the same call again; the same failure whatever was asked, later where it passes by itself;
    attempts that layers below the agent multiplied.

    Args:
        call: the latest, which failed.
        streak: its tool's failures since it last worked, this one included.
        policy: the thresholds.
    """
    same_call = _in_a_row(streak, lambda past: past.signature is not None and past.signature == call.signature)
    limit = {
        ErrorClass.TRANSIENT: policy.transient_tolerance + 1,
        ErrorClass.PERMANENT: policy.retry_permanent,
        ErrorClass.VALIDATION: policy.retry_validation,
    }.get(call.error_class or ErrorClass.OTHER)
    if limit is not None and len(same_call) >= limit:
        grave = call.error_class is ErrorClass.TRANSIENT or len(same_call) >= limit + _GRAVE
        text = f"was called {len(same_call)} times with the same arguments and failed each time"
        return _verdict(call, streak, same_call, limit, text, grave=grave)
    said = streak.latest[-1].said
    if call.error_class is ErrorClass.PERMANENT and streak.times > policy.retry_permanent and _is_no_tool(said):
        failures = list(streak.latest)
        return _verdict(call, streak, failures, policy.retry_permanent + 1, "does not exist and was called again", grave=True)
    if call.error_class is ErrorClass.TRANSIENT:
        host = streak.latest[-1].host
        alike = _in_a_row(
            streak,
            lambda past: past.error_class is ErrorClass.TRANSIENT and past.host == host and says_the_same(past.said, said),
        )
        if len(alike) >= policy.transient_tolerance + _OTHERWISE_ASKED:
            text = f"failed {len(alike)} times in a row for the same passing reason, whatever it was asked"
            return _verdict(call, streak, alike, policy.transient_tolerance + _OTHERWISE_ASKED, text, grave=True)
    elif call.effect is not Effect.WRITE:
        # What is written is another thing each time, and may be nearer to the goal; `same_failures` counts those.
        alike = _in_a_row(streak, lambda past: says_the_same(past.said, said))
        if len(alike) >= policy.retry_failures:
            text = f"failed {len(alike)} times in a row for the same reason, whatever it was asked"
            return _verdict(call, streak, alike, policy.retry_failures, text, grave=True)
    if streak.attempts >= policy.retry_attempts and streak.attempts > streak.times:
        text = f"failed {streak.times} times in a row, {streak.attempts} attempts with those that were made by layers below"
        return _verdict(call, streak, list(streak.latest), policy.retry_attempts, text, grave=True)
    return None


def _is_no_tool(said: Said) -> bool:
    """Return whether a failure says that there is no such tool: no other argument heals that."""
    return "unknown" in said.words and not _TOOL_WORDS.isdisjoint(said.words)


_TOOL_WORDS = frozenset({"tool", "command", "function", "action"})


def _in_a_row(streak: FailureStreak, belongs: Callable[[Failure], bool]) -> list[Failure]:
    return list(takewhile(belongs, reversed(streak.latest)))[::-1]


def _verdict(call: Call, streak: FailureStreak, failures: list[Failure], limit: int, text: str, *, grave: bool) -> Verdict:
    tool = call.reading.tool or "a tool"
    failures = failures[-_TOLD:]
    pauses = [round((later.start_ns - earlier.end_ns) / 1e9, 3) for earlier, later in pairwise(failures)]
    return Verdict(
        pattern=Pattern.RETRY_STORM,
        action=Action.STOP if grave else Action.NUDGE,
        stop_reason=StopReason.RETRY_STORM if grave else None,
        severity="critical" if grave else "warning",
        message=f"{tool} {text}",
        evidence={
            "tool": tool,
            "signature": call.signature,
            "failures": streak.times,
            "attempts": streak.attempts,
            "limit": limit,
            "error_class": str(call.error_class or ErrorClass.OTHER),
            "said_each_time": sorted(frozenset.intersection(*(failure.said.words for failure in failures)))[:20],
            "pauses_seconds": pauses,
            "backs_off": len(pauses) > 1 and all(later > earlier for earlier, later in pairwise(pauses)),
            "steps": [failure.step for failure in failures],
            "span_ids": [failure.span_id for failure in failures],
        },
    )
