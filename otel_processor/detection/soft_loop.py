"""soft_loop: the same tool with nearly the same arguments, and nothing new comes back."""

from __future__ import annotations

from otel_processor.detection.asking import is_near
from otel_processor.detection.trail import Past, Trail
from otel_processor.model import Action, Effect, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

_LOOKED_BACK = 12
_LEAST_WORDS = 6
_SAME_SHARE = 0.6


def find_soft_loop(latest: Past, trail: Trail, policy: Policy) -> Verdict | None:
    """Return a verdict when a call was made often enough with nearly the same arguments and no news.

    A word more, a path written otherwise, a time or an id differ; another number asks for something else. Failures are
    a retry storm's, unless nothing but noise differs.

    Args:
        latest: the call, which brought nothing new.
        trail: the calls before it.
        policy: holds both thresholds.
    """
    if latest.progress is True or latest.news is not False or not latest.arguments or latest.effect is Effect.WRITE:
        return None
    alike = [latest]
    for past in trail.of_tool(latest.tool, _LOOKED_BACK, since_change=True):
        if not past.arguments or not is_near(latest.asked, past.asked, policy.soft_loop_similarity):
            break
        alike.append(past)
        if past.news is not False:
            # The first of them brought what the others bring again.
            break
    only_noise = len({past.asked.text for past in alike}) == 1
    limit = min(policy.soft_loop_repeats, policy.hard_loop_repeats) if only_noise else policy.soft_loop_repeats
    if len(alike) < limit or len({past.signature for past in alike}) < 2 or (latest.failed and not only_noise):
        return None
    return _verdict(alike, limit, "with nearly the same arguments and nothing new came back")


def find_copies(latest: Past, trail: Trail, policy: Policy) -> Verdict | None:
    """Return a verdict when the same is written again and again, and nothing is learned in between: the same long text to
    one place after the other with the same answer, or nearly the same words in another order.

    Args:
        latest: the call, which writes.
        trail: the calls before it.
        policy: holds the number.
    """
    alike = [latest]
    for past in trail.backwards():
        if past.tool == latest.tool:
            if past.addressee != latest.addressee or not (_is_copy(latest, past) or _is_rewritten(latest, past)):
                break
            alike.append(past)
            if len(alike) >= _LOOKED_BACK:
                break
        elif past.news is True:
            break
    only_noise = len({past.asked.text for past in alike}) == 1
    limit = min(policy.soft_loop_repeats, policy.hard_loop_repeats) if only_noise else policy.soft_loop_repeats + 1
    return _verdict(alike, limit, "with the same content each time") if len(alike) >= limit else None


def _is_copy(latest: Past, past: Past) -> bool:
    return past.content == latest.content and past.fingerprint == latest.fingerprint


def _is_rewritten(latest: Past, past: Past) -> bool:
    if past.content is None:
        return False
    one, other = latest.asked, past.asked
    if one.words == other.words and one.numbers == other.numbers:
        return True
    common, shorter = len(one.words & other.words), min(len(one.words), len(other.words))
    numbers, all_numbers = len(one.numbers & other.numbers), len(one.numbers | other.numbers)
    return shorter >= _LEAST_WORDS and common >= _SAME_SHARE * shorter and numbers >= _SAME_SHARE * all_numbers


def _verdict(alike: list[Past], limit: int, what: str) -> Verdict:
    alike.reverse()
    return Verdict(
        pattern=Pattern.SOFT_LOOP,
        action=Action.STOP,
        stop_reason=StopReason.NEAR_REPEAT,
        severity="critical",
        message=f"{alike[-1].tool} was called {len(alike)} times {what}",
        evidence={
            "tool": alike[-1].tool,
            "repeats": len(alike),
            "limit": limit,
            "asked": [past.arguments[:120] for past in alike][-8:],
            "steps": [past.step for past in alike][-8:],
            "span_ids": [past.span_id for past in alike][-8:],
        },
    )
