"""no_progress: steps go by and none of them brings anything new."""

from __future__ import annotations

from otel_processor.model import Action, Pattern, StopReason, Verdict
from otel_processor.policy import Policy


def find_no_progress(flat_steps: int, steps: list[int], span_ids: list[str], tools: list[str], policy: Policy) -> Verdict | None:
    """Return a verdict when the streak of flat steps is long enough: a warning first, then the advice to stop.

    Args:
        flat_steps: the streak, in steps.
        steps: the numbers of its latest steps.
        span_ids: their latest tool spans.
        tools: the tools they called.
        policy: holds both thresholds.
    """
    if flat_steps < policy.no_progress_alert_steps:
        return None
    grave = flat_steps >= policy.no_progress_stop_steps
    names = ", ".join(dict.fromkeys(tools))
    return Verdict(
        pattern=Pattern.NO_PROGRESS,
        action=Action.STOP if grave else Action.NUDGE,
        stop_reason=StopReason.NO_PROGRESS if grave else None,
        severity="critical" if grave else "warning",
        message=f"{flat_steps} steps in a row brought nothing new (tools called: {names})",
        evidence={
            "flat_steps": flat_steps,
            "steps": list(steps),
            "span_ids": list(span_ids),
            "tools": list(dict.fromkeys(tools)),
        },
    )
