"""hard_loop: the same call again and again, with nothing changed between."""

from __future__ import annotations

from otel_processor.detection.repeats import Repeats
from otel_processor.model import Action, Call, Effect, ErrorClass, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

_RETRIES = frozenset({ErrorClass.TRANSIENT, ErrorClass.PERMANENT, ErrorClass.VALIDATION})
"""Failures whose repeats are a retry storm."""


def hard_loop_limit(call: Call, policy: Policy) -> int:
    """Return how many equal calls are one too many."""
    if policy.repeat_scope != "change":
        # Recipes that do not look at results tell only a failure that may pass from the rest.
        is_transient = call.error_class is ErrorClass.TRANSIENT
        return max(policy.transient_tolerance, policy.hard_loop_repeats) if is_transient else policy.hard_loop_repeats
    if call.effect is Effect.WRITE and not call.reading.is_error:
        return policy.hard_loop_write_repeats
    return policy.hard_loop_poll_repeats if call.effect is Effect.POLL else policy.hard_loop_repeats


def find_hard_loop(call: Call, progress: bool | None, repeats: Repeats, policy: Policy) -> Verdict | None:
    """Return a verdict when a call was repeated as often as the policy allows.

    A status query whose result is not recorded is let off: its result may well be moving.
    """
    limit = hard_loop_limit(call, policy)
    if repeats.count < limit:
        return None
    if policy.repeat_scope == "change":
        if progress is True or (call.effect is Effect.POLL and progress is None):
            return None
        if call.error_class in _RETRIES and Pattern.RETRY_STORM in policy.patterns:
            return None
    tool = call.reading.tool or "a tool"
    if call.reading.is_error and not repeats.answered:
        came_back = "and failed each time"
    elif progress is True:
        came_back = "in a row" if policy.repeat_scope == "consecutive" else "in this run"
    elif progress is None:
        came_back = "(its results are not recorded)"
    else:
        came_back = "and nothing new came back"
    return Verdict(
        pattern=Pattern.HARD_LOOP,
        action=Action.STOP,
        stop_reason=StopReason.REPEATED_SIGNATURE,
        severity="critical",
        message=f"{tool} was called {repeats.count} times with the same arguments {came_back}",
        evidence={
            "tool": tool,
            "signature": call.signature,
            "repeats": repeats.count,
            "limit": limit,
            "effect": str(call.effect or Effect.UNKNOWN),
            "steps": [step for step, _ in repeats.places],
            "span_ids": [span_id for _, span_id in repeats.places],
        },
    )
