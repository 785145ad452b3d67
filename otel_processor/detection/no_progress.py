"""no_progress: steps go by and none of them brings anything new."""

from __future__ import annotations

from otel_processor.detection.streak import Streak
from otel_processor.model import Action, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

_CALLS_A_STEP = 2
"""Flat calls one after the other that weigh as much as a flat step, where a step has many: not every model call is recorded."""


def find_no_progress(streak: Streak, policy: Policy) -> Verdict | None:
    """Return a verdict when the streak is long enough: a warning first, then the advice to stop.

    As many calls that were all answered the very same, at length, are as grave as one flat step more.

    Args:
        streak: the agent's.
        policy: holds both thresholds.
    """
    equal = len(streak.same_answer)
    weight = max(streak.steps, streak.calls // _CALLS_A_STEP, equal)
    if weight < policy.no_progress_alert_steps:
        return None
    grave = weight >= policy.no_progress_stop_steps or equal >= policy.no_progress_alert_steps
    if streak.steps >= policy.no_progress_alert_steps or equal < policy.no_progress_alert_steps:
        count = f"{streak.steps} steps" if streak.steps >= policy.no_progress_alert_steps else f"{streak.calls} calls"
        said = f"{count} in a row brought nothing new"
    else:
        said = f"{equal} calls in a row were answered the very same, whatever was asked"
    names = ", ".join(dict.fromkeys(streak.tools))
    return Verdict(
        pattern=Pattern.NO_PROGRESS,
        action=Action.STOP if grave else Action.NUDGE,
        stop_reason=StopReason.NO_PROGRESS if grave else None,
        severity="critical" if grave else "warning",
        message=f"{said} (tools called: {names})",
        evidence={
            "flat_steps": streak.steps,
            "flat_calls": streak.calls,
            "equal_answers": equal,
            "steps": list(streak.step_numbers),
            "span_ids": list(streak.span_ids),
            "tools": list(dict.fromkeys(streak.tools)),
        },
    )
