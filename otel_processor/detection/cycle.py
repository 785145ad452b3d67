"""cycle: A-B-A-B-A-B, A-B-C-A-B-C …: the same few calls in the same order, with the same answers."""

from __future__ import annotations

from otel_processor.detection.trail import Past, Trail
from otel_processor.model import Action, Effect, Pattern, StopReason, Verdict
from otel_processor.policy import Policy


def find_cycle(latest: Past, trail: Trail, policy: Policy) -> Verdict | None:
    """Return a verdict when the latest calls are the same sequence again and again.

    Calls and answers must be the same, ids aside; in all rounds but the first nothing may have been progress. That also
    covers what writes: putting something in and taking it out again changes nothing in the end. Where one of the calls
    waits or asks for a status, as many rounds are let pass as such a call may stand still.

    Args:
        latest: the call.
        trail: the calls before it.
        policy: holds the longest period and the number of rounds.
    """
    calls = len(trail)
    for period in range(2, policy.cycle_max_period + 1):
        if calls < period:
            return None
        # Most often the call one period ago was another one, and that is all there is to look at.
        if latest.signature != trail[-period].signature:
            continue
        rounds = _rounds(latest, trail, period, policy)
        if rounds and _repeats(latest, trail, period, period * rounds):
            return _verdict([*(trail[back] for back in range(1 - period * rounds, 0)), latest], period, rounds)
    return None


def _rounds(latest: Past, trail: Trail, period: int, policy: Policy) -> int:
    """Return how many rounds of a period make a cycle here; 0 where there were not as many calls."""
    if len(trail) < period * policy.cycle_rounds - 1:
        return 0
    waits = latest.effect is Effect.POLL or any(trail[-back].effect is Effect.POLL for back in range(1, period))
    rounds = max(policy.cycle_rounds, policy.hard_loop_poll_repeats) if waits else policy.cycle_rounds
    return rounds if len(trail) >= period * rounds - 1 else 0


def may_become_a_cycle(latest: Past, trail: Trail, policy: Policy) -> bool:
    """Return whether the calls go in turn, but the last round is not complete."""
    calls = len(trail)
    return any(
        _repeats(latest, trail, period, needed)
        for period in range(2, min(policy.cycle_max_period, calls) + 1)
        # Most often the call one period ago was another one.
        if latest.signature == trail[-period].signature
        for needed in range(period * (policy.cycle_rounds - 1) + 1, period * policy.cycle_rounds)
        if calls >= needed - 1
    )


def _repeats(latest: Past, trail: Trail, period: int, needed: int) -> bool:
    """Return whether each of the last `needed` calls is the one a period before it."""
    one = latest
    for back in range(1, needed - period + 1):
        before = trail[-period - back + 1]
        if one.progress is True or one.signature is None or one.signature != before.signature:
            return False
        if one.news is True or one.stirred:
            return False
        one = trail[-back]
    return len({trail[-back].signature for back in range(1, period + 1)}) > 1


def _verdict(calls: list[Past], period: int, rounds: int) -> Verdict:
    names = ", ".join(past.tool for past in calls[:period])
    return Verdict(
        pattern=Pattern.CYCLE,
        action=Action.STOP,
        stop_reason=StopReason.CYCLE,
        severity="critical",
        message=f"the same {period} calls came {rounds} times in the same order with the same answers ({names})",
        evidence={
            "period": period,
            "rounds": rounds,
            "limit": rounds,
            "tools": [past.tool for past in calls[:period]],
            "signatures": [past.signature for past in calls[:period]],
            "steps": [past.step for past in calls][-12:],
            "span_ids": [past.span_id for past in calls][-12:],
        },
    )
