"""cycle: A-B-A-B-A-B, A-B-C-A-B-C …: the same few calls in the same order, with the same answers."""

from __future__ import annotations

from otel_processor.detection.trail import Past, Trail
from otel_processor.model import Action, Pattern, StopReason, Verdict
from otel_processor.policy import Policy


def find_cycle(latest: Past, trail: Trail, policy: Policy) -> Verdict | None:
    """Return a verdict when the latest calls are the same sequence again and again.

    Calls and answers must be the same; in all rounds but the first nothing may have been progress. That also covers what
    writes: putting something in and taking it out again changes nothing in the end.

    Args:
        latest: the call.
        trail: the calls before it.
        policy: holds the longest period and the number of rounds.
    """
    for period in range(2, policy.cycle_max_period + 1):
        needed = period * policy.cycle_rounds
        if len(trail) < needed - 1:
            return None
        if _repeats(latest, trail, period, needed):
            return _verdict([*(trail[back] for back in range(1 - needed, 0)), latest], period, policy)
    return None


def may_become_a_cycle(latest: Past, trail: Trail, policy: Policy) -> bool:
    """Return whether the calls go in turn, but the last round is not complete."""
    return any(
        _repeats(latest, trail, period, needed)
        for period in range(2, policy.cycle_max_period + 1)
        for needed in range(period * (policy.cycle_rounds - 1) + 1, period * policy.cycle_rounds)
        if len(trail) >= needed - 1
    )


def _repeats(latest: Past, trail: Trail, period: int, needed: int) -> bool:
    """Return whether each of the last `needed` calls is the one a period before it."""
    # Most often the call one period ago was another one, and that is all there is to look at.
    one = latest
    for back in range(1, needed - period + 1):
        before = trail[-period - back + 1]
        if one.progress is True or one.signature is None or one.signature != before.signature:
            return False
        if one.fingerprint != before.fingerprint:
            return False
        one = trail[-back]
    return len({trail[-back].signature for back in range(1, period + 1)}) > 1


def _verdict(calls: list[Past], period: int, policy: Policy) -> Verdict:
    names = ", ".join(past.tool for past in calls[:period])
    rounds = len(calls) // period
    return Verdict(
        pattern=Pattern.CYCLE,
        action=Action.STOP,
        stop_reason=StopReason.CYCLE,
        severity="critical",
        message=f"the same {period} calls came {rounds} times in the same order with the same answers ({names})",
        evidence={
            "period": period,
            "rounds": rounds,
            "limit": policy.cycle_rounds,
            "tools": [past.tool for past in calls[:period]],
            "signatures": [past.signature for past in calls[:period]],
            "steps": [past.step for past in calls][-12:],
            "span_ids": [past.span_id for past in calls][-12:],
        },
    )
