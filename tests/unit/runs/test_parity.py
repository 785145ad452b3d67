from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_processor.model import SpanRecord
from otel_processor.policy import Policy
from tests.unit.factory import (
    agent_span,
    failure_span,
    invoker_span,
    make_span,
    model_span,
    sibling_span,
    told_model_span,
    tool_span,
)
from tests.unit.runs.small_store import SmallStore

KINDS = ("tool", "tool", "tool", "model", "model", "told", "told", "sibling", "failure", "invoker", "agent", "plain", "request")

IDS = (None, "c1", "c2")
TOOLS = ("search", "search", "send_email", "job_status")
RESULTS = ("x", "another thing that was found", '{"status": "error"}')


@st.composite
def runs(draw: st.DrawFn) -> list[SpanRecord]:
    """A few traces of nested agents, models, tools and plain spans; children usually inside their parents."""
    spans: list[SpanRecord] = []
    talk = draw(st.booleans())
    for trace in ("t1", "t2", "t3")[: draw(st.integers(1, 3))]:
        below: list[str | None] = [None, "gone"]
        # Half an hour of silence cuts a conversation.
        begin = draw(st.sampled_from([0, 10, 1_830, 3_700]))
        for number in range(draw(st.integers(1, 9))):
            span_id = f"{trace}.{number}"
            parent = draw(st.sampled_from(below))
            # A parent ends after its children: it has a lower number and so a later end.
            start = draw(st.integers(0, 8)) if draw(st.booleans()) else number
            length = draw(st.sampled_from([20 - number, 20 - number, 20 - number, 3]))
            talks = talk and draw(st.booleans())
            spans.append(_span(draw, span_id, trace, parent, begin + start, length, talks))
            below.append(span_id)
    return spans


def _span(draw: st.DrawFn, span_id: str, trace: str, parent: str | None, start: int, length: int, talks: bool) -> SpanRecord:
    more = _declared(draw) | ({"gen_ai.conversation.id": "talk"} if talks else {})
    kind = draw(st.sampled_from(KINDS))
    place: dict[str, Any] = {"trace": trace, "parent": parent, "at": start, "seconds": length}
    if draw(st.integers(0, 5)) == 0:
        place |= {"status": "ERROR", "status_message": draw(st.sampled_from(["gave up", "TimeoutError: late"]))}
    if kind == "tool":
        if draw(st.integers(0, 5)) == 0:
            more["gen_ai.agent.name"] = "porter"
        words = draw(st.sampled_from(["search:a=x", "search:b=x", "search", "search:a", "send_email:bob=ok", "job_status:1=up"]))
        return tool_span(span_id, words, call_id=draw(st.sampled_from([None, None, "c1", "c2"])), more=more, **place)
    if kind == "model":
        requests = draw(st.sampled_from([(), (("c1", "search", "a"),), (("c2", "search", "b"), ("c1", "search", "a"))]))
        finish = draw(st.sampled_from([None, "stop", "length"]))
        more["gen_ai.usage.input_tokens"] = draw(st.sampled_from([10, None]))
        return model_span(span_id, requests=requests, finish=finish, more=more, **place)
    if kind == "agent":
        if draw(st.integers(0, 3)) == 0:
            more["gen_ai.usage.input_tokens"] = draw(st.sampled_from([0, 7, 9]))
        return agent_span(span_id, draw(st.sampled_from(["clerk", "scout"])), more=more, **place)
    if kind == "request":
        return make_span(span_id, {**more, "http.request.method": "GET", "http.response.status_code": 503}, **place)
    if kind == "plain":
        return make_span(span_id, more, **place)
    return _telling_span(draw, kind, span_id, more, place)


def _declared(draw: st.DrawFn) -> dict[str, Any]:
    told = {
        "loop.run.id": ["r1", "r2", "t1"],
        "loop.task": ["refund", "research"],
        "loop.task.type": ["research", "scrape", "poetry"],
        "loop.stop_reason.declared": ["handed_to_human", "cancelled"],
    }
    return {key: draw(st.sampled_from(values)) for key, values in told.items() if draw(st.integers(0, 9)) == 0}


def _telling_span(draw: st.DrawFn, kind: str, span_id: str, more: dict[str, Any], place: dict[str, Any]) -> SpanRecord:
    told = draw(st.lists(st.tuples(*(st.sampled_from(each) for each in (IDS, TOOLS, RESULTS))), min_size=1, max_size=3))
    if kind == "told":
        return told_model_span(span_id, *told, more=more, **place)
    if kind == "sibling":
        return sibling_span(span_id, *told, **place)
    if kind == "failure":
        return failure_span(span_id, draw(st.sampled_from(["c1", "c2"])), "no backend", **place)
    return invoker_span(span_id, ("c1", "search", "x"), ("c2", "search", "y"), **place)


POLICY = Policy(
    task_types={
        "research": {"hard_loop_repeats": 2, "no_progress_alert_steps": 2, "no_progress_stop_steps": 2},
        "scrape": {"volatile_keys": frozenset({"q"}), "effects": {"search": "poll"}},
    }
)


def stored(*batches: Sequence[SpanRecord]) -> SmallStore:
    store = SmallStore(POLICY)
    for batch in batches:
        store.record(batch)
    return store


@given(runs(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_in_a_batch_does_not_matter(spans: list[SpanRecord], order: random.Random) -> None:
    shuffled = list(spans)
    order.shuffle(shuffled)
    one, other = SmallStore(POLICY), SmallStore(POLICY)
    assert one.record(spans) == other.record(shuffled)
    assert one.outcomes() == other.outcomes()


@given(runs(), st.randoms(use_true_random=False), st.integers(2, 6))
@settings(max_examples=300, deadline=None)
def test_batches_do_not_matter(spans: list[SpanRecord], order: random.Random, parts: int) -> None:
    batches: list[list[SpanRecord]] = [[] for _ in range(parts)]
    for span in spans:
        order.choice(batches).append(span)
    whole, pieces = stored(spans), stored(*batches)
    assert pieces.outcomes() == whole.outcomes()
    assert pieces.traces == whole.traces
    assert pieces.runs == whole.runs
