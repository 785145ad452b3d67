"""hard_loop: the same call again and again, with nothing changed between."""

from __future__ import annotations

from otel_processor.detection.repeats import Repeats
from otel_processor.model import Action, Call, Effect, Pattern, StopReason, Verdict
from otel_processor.policy import Policy


def find_hard_loop(call: Call, progress: bool | None, repeats: Repeats, policy: Policy) -> Verdict | None:
    """Return a verdict when a call was repeated as often as the policy allows.

    A status query whose result is not recorded is let off: its result may well be moving.
    """
    limit = policy.hard_loop_repeats
    if call.effect is Effect.WRITE:
        limit = policy.hard_loop_write_repeats
    elif call.effect is Effect.POLL:
        limit = policy.hard_loop_poll_repeats
    if progress is True or repeats.count < limit or (call.effect is Effect.POLL and progress is None):
        return None
    tool = call.reading.tool or "a tool"
    if call.reading.is_error:
        came_back = "and failed each time"
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
