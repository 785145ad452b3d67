"""semantic_loop by what is asked: the same question in other words, and no new hits."""

from __future__ import annotations

from otel_processor.detection.asking import is_reworded, is_similar
from otel_processor.detection.progress import LEAST_NEW, MOST_NEW
from otel_processor.detection.trail import Past, Trail
from otel_processor.model import Action, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

_LONGEST_QUESTION_WORDS = 40
_LOOKED_BACK = 8
_LONGEST_LIST = 24
_SAME_WORDS = 0.8
_REWORDED_NEW = 2.5


def how_new(latest: Past, trail: Trail) -> float:
    """Return how many times `policy.min_new_share` an answer must bring to be new, by what the tool was asked before it."""
    if not latest.is_question or not 2 <= len(latest.asked.words) <= _LONGEST_QUESTION_WORDS:
        return LEAST_NEW
    asked = latest.asked
    before = [past.asked for past in trail.of_tool(latest.tool, _LOOKED_BACK) if past.arguments]
    if any(asked.numbers == other.numbers and is_similar(asked, other, _SAME_WORDS) for other in before):
        return MOST_NEW
    return _REWORDED_NEW if any(is_reworded(asked, other) for other in before) else LEAST_NEW


def asks_another(latest: Past, trail: Trail) -> bool:
    """Return whether a call asks its tool about another thing than the calls before it, not for more or less of the same."""
    if not latest.arguments or how_new(latest, trail) != LEAST_NEW:
        return False
    before = trail.of_tool(latest.tool, _LONGEST_LIST)
    if len(before) == _LONGEST_LIST and all(past.progress is not True and past.news is False for past in before):
        # Nothing new for so long: whatever it asks for next, it guesses.
        return False
    mine = latest.asked.words | latest.asked.numbers
    others = (past.asked.words | past.asked.numbers for past in before[:_LOOKED_BACK])
    return not any(mine <= other or other <= mine for other in others)


def _alike(latest: Past, others: list[Past]) -> list[Past]:
    """Return the call and those that ask what it asks, or what one of these asks."""
    alike = [latest]
    for one in alike:
        found = [past for past in others if is_reworded(one.asked, past.asked)]
        # The list grows while it is walked: what was found is looked at in its turn.
        alike.extend(found)
        others = [past for past in others if past not in found]
    return alike


def find_reworded(latest: Past, trail: Trail, policy: Policy) -> Verdict | None:
    """Return a verdict when enough of a tool's last calls ask the same in other words without new hits.

    Where results are not recorded, all calls of the window must be rewordings.

    Args:
        latest: the call, which brought nothing new as far as is known.
        trail: the calls before it.
        policy: holds the window and the number.
    """
    if latest.progress is True or latest.news is True or not latest.is_question:
        return None
    if not 2 <= len(latest.asked.words) <= _LONGEST_QUESTION_WORDS:
        return None
    window = [past for past in trail.of_tool(latest.tool, policy.semantic_window - 1) if past.arguments]
    needed = policy.semantic_repeats if latest.news is False else policy.semantic_window
    if latest.news is None and len(window) < needed - 1:
        return None
    alike = _alike(latest, [past for past in window if past.news is not True])
    if len(alike) < 2:
        return None
    first = next((past for past in window if past.news is True and any(is_reworded(past.asked, o.asked) for o in alike)), None)
    if first is not None:
        alike.append(first)
    if len(alike) < needed or len({past.signature for past in alike}) < 3:
        return None
    alike.sort(key=lambda past: past.step)
    if 2 * len(alike) < latest.step - alike[0].step + 1:
        # Most of what happened in between was something else.
        return None
    what_came = "no new hits" if latest.news is False else "no end (its results are not recorded)"
    return Verdict(
        pattern=Pattern.SEMANTIC_LOOP,
        action=Action.STOP,
        stop_reason=StopReason.SEMANTIC,
        severity="critical",
        message=f"{latest.tool} was asked the same in other words {len(alike)} times with {what_came}",
        evidence={
            "tool": latest.tool,
            "repeats": len(alike),
            "limit": needed,
            "asked": [past.arguments[:120] for past in alike],
            "steps": [past.step for past in alike],
            "span_ids": [past.span_id for past in alike],
        },
    )
