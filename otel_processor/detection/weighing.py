"""What a tool call means for its agent: is it progress, is its failure tolerated, how often was it made?"""

from __future__ import annotations

from typing import NamedTuple

from otel_processor.detection.agent_state import AgentState
from otel_processor.detection.asking import LOOKED_AT_CHARS
from otel_processor.detection.effects import keeps_notes
from otel_processor.detection.failing import Said
from otel_processor.detection.progress import News, judge
from otel_processor.detection.repeats import Repeats
from otel_processor.detection.reworded import asks_another
from otel_processor.detection.trail import Past
from otel_processor.model import Call, Effect, ErrorClass
from otel_processor.policy import Policy

_MAY_CHANGE = frozenset({Effect.WRITE, Effect.UNKNOWN})


class Weight(NamedTuple):
    """What a tool call means."""

    progress: bool | None
    """False: it was flat; None: not known, or let pass."""
    tolerated: bool
    """It failed for a moment, and that is not held against the agent yet."""
    repeats: Repeats | None
    """How often it was made since something changed, this time included; None where its arguments are not known."""


def weigh(agent: AgentState, call: Call, past: Past, news: News, said: Said | None, policy: Policy) -> Weight:
    """Say what a tool call means, and count it.

    Args:
        agent: whose call it is.
        call: the call.
        past: the call as the trail will remember it.
        news: what its result brought.
        said: what its failure says; None where it worked.
        policy: the thresholds.
    """
    repeats = agent.repeats.find(call.signature)
    succeeded = said is None
    writes_new = True
    if call.effect is Effect.WRITE and succeeded and news.is_first:
        # What is too long to be looked at whole may well hold something new.
        writes_new = agent.novelty.writes_new(past.asked) or len(past.arguments) >= LOOKED_AT_CHARS
    count = repeats.count if repeats is not None else 0
    progress = judge(
        call,
        news,
        policy,
        repeats=count,
        writes_new=writes_new,
        past=past,
        said=said,
        asks_another=lambda: asks_another(past, agent.trail),
    )
    failed_for_now = call.error_class is ErrorClass.TRANSIENT and call.reading.progress_declared is None
    tolerated = failed_for_now and (repeats.failures if repeats is not None else 0) < policy.transient_tolerance
    if tolerated:
        progress = None
    elif policy.repeat_scope == "change":
        # Doing something different may have changed what the same call answers: test, edit, test is work.
        does_something = succeeded and call.effect in _MAY_CHANGE and progress is not False
        does_something = does_something and not keeps_notes(past.tool, call.reading.arguments)
        did_the_same = does_something and agent.did_the_same(past, news)
        if progress or (does_something and news.is_first and not did_the_same):
            agent.something_changed(call)
            repeats = None
        elif does_something and not did_the_same and call.effect is Effect.UNKNOWN and agent.follows_another(call):
            agent.may_have_changed(call)
    if call.signature is not None:
        repeats = _count(agent, call, news, repeats, policy, failed_for_now=failed_for_now, tolerated=tolerated)
    return Weight(progress, tolerated, repeats)


def _count(
    agent: AgentState, call: Call, news: News, repeats: Repeats | None, policy: Policy, *, failed_for_now: bool, tolerated: bool
) -> Repeats:
    signature = call.signature or ""
    if policy.repeat_scope == "consecutive":
        repeats = agent.repeats.only(signature)
    elif repeats is None:
        repeats = agent.repeats.begin(signature)
    if failed_for_now:
        repeats.saw_failure(agent.step, call.span_id, tolerated=tolerated)
    elif policy.repeat_scope == "change" and repeats.count and _stirred(agent, call, news, repeats, policy):
        repeats.saw_stir(agent.step, call.span_id, failed=call.reading.is_error)
    else:
        repeats.saw(agent.step, call.span_id, failed=call.reading.is_error)
    return repeats


def _stirred(agent: AgentState, call: Call, news: News, repeats: Repeats, policy: Policy) -> bool:
    """Return whether the answer moved a little: that is no news, but something is going on; not so for ever."""
    if not (news.stirred or news.is_back) or repeats.stirred >= policy.hard_loop_poll_repeats:
        return False
    if call.reading.progress_declared is False:
        return False
    if call.effect is Effect.POLL:
        return news.is_back or not news.was_seen
    # A failure that is worded otherwise tells something only where something was done about it.
    return not call.reading.is_error or agent.follows_another(call)
