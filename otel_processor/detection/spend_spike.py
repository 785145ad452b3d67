"""spend_spike: a run uses far more than the healthy runs of its task did."""

from __future__ import annotations

from otel_processor.detection.limits import Usage
from otel_processor.model import Action, History, Pattern, Verdict
from otel_processor.policy import Policy


def find_spend_spike(usage: Usage, history: History, policy: Policy, span_id: str) -> Verdict | None:
    """Return a verdict when a run used several times what nearly all of the task's own healthy runs used.

    It alerts and carries no stop reason: an expensive run may be worth it.

    Args:
        usage: what the run used so far.
        history: what the task's runs used that ended well before this one began.
        policy: says how many runs make a history, and how many times is far.
        span_id: of the latest call.
    """
    if history.runs < policy.spend_spike_runs:
        return None
    measures = (
        ("steps", usage.steps, history.steps, f"{usage.steps:,} steps"),
        ("tokens", usage.tokens, history.tokens, f"{usage.tokens:,} tokens"),
        ("cost_usd", usage.cost_usd, history.cost_usd, f"${usage.cost_usd:.4g}"),
    )
    for name, used, usual, words in measures:
        if usual is not None and usual > 0 and used > policy.spend_spike_factor * usual:
            times = used / usual
            return Verdict(
                pattern=Pattern.SPEND_SPIKE,
                action=Action.NUDGE,
                stop_reason=None,
                severity="warning",
                message=f"the run took {words} so far, {times:.1f} times what 95 of 100 runs of its task take at most",
                evidence={
                    "measure": name,
                    "used": used,
                    "usual": usual,
                    "runs": history.runs,
                    "limit": policy.spend_spike_factor,
                    "span_ids": [span_id],
                },
            )
    return None
