"""What is there to tell of a tool call: every pattern over several calls is asked in its turn."""

from __future__ import annotations

from collections.abc import Iterator

from otel_processor.detection.agent_state import AgentState
from otel_processor.detection.cycle import find_cycle, may_become_a_cycle
from otel_processor.detection.hard_loop import find_hard_loop
from otel_processor.detection.no_progress import find_no_progress
from otel_processor.detection.repeats import Repeats
from otel_processor.detection.retry_storm import find_retry_storm
from otel_processor.detection.reworded import find_reworded
from otel_processor.detection.soft_loop import find_copies, find_soft_loop
from otel_processor.detection.trail import Past
from otel_processor.model import Call, Pattern, Verdict
from otel_processor.policy import Policy


def may_be_a_repeat(past: Past, repeats: Repeats | None) -> bool:
    """Return whether there is anything to look for; most calls are made once and bring something new."""
    if past.content is not None or past.progress is False or (repeats is not None and repeats.count > 1):
        return True
    return past.progress is not True and (past.news is False or (past.news is None and past.is_question))


def found_in(agent: AgentState, call: Call, past: Past, repeats: Repeats | None, policy: Policy) -> Iterator[Verdict | None]:
    """Give what patterns over several calls say of the latest one.

    Args:
        agent: whose call it is; its trail does not hold the call yet.
        call: the call.
        past: the call as the trail will remember it.
        repeats: how often it was made since something changed; None where its arguments are not known.
        policy: the thresholds.
    """
    wanted, trail = policy.patterns, agent.trail
    if past.news is None and past.progress is None and (repeats is None or repeats.count == 1):
        # Its result is not recorded, and it was made once: only what it asks can be compared.
        yield find_reworded(past, trail, policy) if Pattern.SEMANTIC_LOOP in wanted else None
        return
    if past.content is not None and Pattern.SOFT_LOOP in wanted:
        yield find_copies(past, trail, policy)
    if repeats is not None and Pattern.HARD_LOOP in wanted:
        found = find_hard_loop(call, past.progress, repeats, policy)
        # A-B-A-B-A is told as what it is, one call later.
        if found is not None and not (Pattern.CYCLE in wanted and may_become_a_cycle(past, trail, policy)):
            yield found
    if past.progress is True:
        return
    if Pattern.CYCLE in wanted and repeats is not None:
        yield find_cycle(past, trail, policy)
    if Pattern.SOFT_LOOP in wanted:
        yield find_soft_loop(past, trail, policy)
    if Pattern.SEMANTIC_LOOP in wanted:
        yield find_reworded(past, trail, policy)
    if past.progress is False and Pattern.NO_PROGRESS in wanted:
        yield find_no_progress(agent.streak, policy)


def held_against(agent: AgentState, call: Call, policy: Policy) -> Verdict | None:
    """Return what would be told if a tool call were made and answered as before; changes nothing.

    Args:
        agent: whose call it would be.
        call: the call, without a result.
        policy: the thresholds.
    """
    wanted, trail = policy.patterns, agent.trail
    past = agent.past(call)
    before = next(iter(trail.of_tool(past.tool, 1)), None)
    past.progress = past.news = False
    past.fingerprint = before.fingerprint if before is not None else None
    last = agent.failures.last(past.tool)
    if last is not None and last.signature == call.signature and Pattern.RETRY_STORM in wanted:
        found = find_retry_storm(call._replace(error_class=last.error_class), agent.failures.once_more(past.tool), policy)
        if found is not None:
            return found
    repeats = agent.repeats.peek(call.signature)
    if repeats is not None and Pattern.HARD_LOOP in wanted and not 0 < repeats.failures < policy.transient_tolerance:
        found = find_hard_loop(call, False, repeats.once_more(), policy)
        if found is not None:
            return found
    if Pattern.SOFT_LOOP in wanted and past.content is not None:
        return find_copies(past, trail, policy)
    found = find_soft_loop(past, trail, policy) if Pattern.SOFT_LOOP in wanted else None
    if found is None and Pattern.SEMANTIC_LOOP in wanted:
        found = find_reworded(past, trail, policy)
    return found if found is not None or Pattern.CYCLE not in wanted else find_cycle(past, trail, policy)
