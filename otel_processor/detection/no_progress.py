"""no_progress: steps go by and none of them brings anything new."""

from __future__ import annotations

from otel_processor.model import Action, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

_CALLS_A_STEP = 2
"""Flat calls one after the other that weigh as much as a flat step, where a step has many: not every model call is recorded."""


def find_no_progress(
    flat_steps: int, flat_calls: int, steps: list[int], span_ids: list[str], tools: list[str], policy: Policy
) -> Verdict | None:
    """Return a verdict when the streak of flat steps is long enough: a warning first, then the advice to stop.

    Args:
        flat_steps: the streak, in steps.
        flat_calls: the streak, in calls one after the other.
        steps: the numbers of its latest steps.
        span_ids: their latest tool spans.
        tools: the tools they called.
        policy: holds both thresholds.
    """
    weight = max(flat_steps, flat_calls // _CALLS_A_STEP)
    if weight < policy.no_progress_alert_steps:
        return None
    grave = weight >= policy.no_progress_stop_steps
    count = f"{flat_steps} steps" if flat_steps >= policy.no_progress_alert_steps else f"{flat_calls} calls"
    names = ", ".join(dict.fromkeys(tools))
    return Verdict(
        pattern=Pattern.NO_PROGRESS,
        action=Action.STOP if grave else Action.NUDGE,
        stop_reason=StopReason.NO_PROGRESS if grave else None,
        severity="critical" if grave else "warning",
        message=f"{count} in a row brought nothing new (tools called: {names})",
        evidence={
            "flat_steps": flat_steps,
            "flat_calls": flat_calls,
            "steps": list(steps),
            "span_ids": list(span_ids),
            "tools": list(dict.fromkeys(tools)),
        },
    )
