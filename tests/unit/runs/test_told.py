from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from otel_processor.model import SpanRecord
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


def stored(*batches: list[SpanRecord]) -> SmallStore:
    store = SmallStore()
    for batch in batches:
        store.record(batch)
    return store


def results(store: SmallStore) -> dict[str, Any]:
    return {key[1]: recorded.call.reading.result for key, recorded in store.calls.items() if recorded.call.reading.tool}


def everywhere(*spans: SpanRecord) -> SmallStore:
    """What is stored is the same however the spans come; returns it."""
    whole = stored(list(spans))
    for order in permutations(spans):
        assert stored(*[[span] for span in order]).outcomes() == whole.outcomes()
    return whole


# In the messages of a later model call.


def test_a_result_that_only_the_next_model_call_is_given_is_the_calls() -> None:
    store = everywhere(tool_span("call", "search:cats", call_id="c1"), told_model_span("model", ("c1", None, "found"), at=2))
    assert results(store) == {"call": "found"}
    assert store.calls["t1", "call"].outcome.progress is True


def test_what_a_call_says_itself_is_not_told_otherwise() -> None:
    told = told_model_span("model", ("c1", None, "other"), ("c2", None, "found"), at=2)
    store = everywhere(tool_span("a", "search:x=own", call_id="c1"), tool_span("b", "search:y", call_id="c2", seconds=1.5), told)
    assert results(store) == {"a": "own", "b": "found"}


def test_without_ids_the_first_told_is_the_first_calls_beside_before_elsewhere() -> None:
    store = everywhere(
        tool_span("far", "search:a", parent="other"),
        tool_span("near", "search:b", parent="root", at=1),
        tool_span("next", "search:c", parent="root", at=2),
        told_model_span("model", (None, "search", "1"), (None, "search", "2"), (None, "search", "3"), parent="root", at=4),
    )
    assert results(store) == {"near": "1", "next": "2", "far": "3"}


def test_an_id_that_only_the_request_carries_finds_the_call() -> None:
    store = everywhere(
        model_span("asks", requests=[("c1", "search", "a"), ("c2", "search", "b")]),
        tool_span("one", "search:a", at=1),
        tool_span("two", "search:b", at=2),
        told_model_span("model", ("c2", None, "second"), ("c1", None, "first"), at=4),
    )
    assert results(store) == {"one": "first", "two": "second"}


def test_a_call_that_comes_after_it_was_told_is_another_one() -> None:
    store = everywhere(told_model_span("model", ("c1", "search", "old")), tool_span("call", "search:a", call_id="c1", at=3))
    assert results(store) == {"call": None}


def test_a_failure_that_is_told_is_one_and_never_taken_back() -> None:
    told = told_model_span("model", ("c1", None, '{"status": "error"}'), ("c2", None, "fine"), at=3)
    failed = tool_span("b", "search:y", call_id="c2", at=1, status="ERROR")
    store = everywhere(tool_span("a", "search:x", call_id="c1"), failed, told)
    assert [store.calls["t1", name].call.reading.is_error for name in "ab"] == [True, True]
    assert results(store)["b"] == "fine"


def test_a_loop_is_seen_although_results_come_one_model_call_late() -> None:
    spans = []
    for turn in range(5):
        spans.append(told_model_span(f"m{turn}", *([(f"c{turn - 1}", None, "nothing")] if turn else []), at=3 * turn))
        spans.append(tool_span(f"t{turn}", "search:cats", call_id=f"c{turn}", at=3 * turn + 1))
    whole, single = stored(spans), stored(*[[span] for span in spans])
    assert single.outcomes() == whole.outcomes()
    assert [whole.calls["t1", f"t{turn}"].outcome.progress for turn in range(5)] == [True, False, False, False, None]


def test_a_run_that_is_told_late_is_taken_back_a_little_and_not_decided_anew() -> None:
    store = SmallStore()
    for turn in range(50):
        told = [(f"c{turn - 1}", None, f"result {turn}")] if turn else []
        store.record([told_model_span(f"m{turn}", *told, at=3 * turn)])
        store.record([tool_span(f"t{turn}", f"search:{turn}", call_id=f"c{turn}", at=3 * turn + 1)])
    assert store.decided_anew == 0
    assert sum(result is not None for result in results(store).values()) == 49


def test_what_is_told_far_too_late_is_decided_anew() -> None:
    calls = [tool_span(f"t{turn}", f"search:{turn}", call_id=f"c{turn}", at=turn) for turn in range(60)]
    told = told_model_span("model", ("c5", None, "found"), at=100)
    # Every call but the first waits for its result, and only the last ones can be folded again.
    store = stored(calls, [told])
    assert store.decided_anew == 1
    assert store.outcomes() == stored([*calls, told]).outcomes()


# By a plain span.


def test_a_childs_failure_is_its_tools() -> None:
    tool = tool_span("call", "search:cats", call_id="c1", at=0, seconds=3)
    store = everywhere(failure_span("child", "c1", "no backend", parent="call", at=1), tool, agent_span("root", seconds=9))
    reading = store.calls["t1", "call"].call.reading
    assert (reading.is_error, reading.error_message) == (True, "no backend")


@pytest.mark.parametrize("call_id", ["c1", None])
def test_a_siblings_result_is_its_tools(call_id: str | None) -> None:
    tool = tool_span("call", "search:cats", call_id=call_id, parent="model")
    store = everywhere(tool, sibling_span("sibling", ("c1", "search", "found"), parent="model", at=0.5, seconds=1))
    assert results(store) == {"call": {"result": "found"}}


def test_a_request_whose_model_ends_after_its_tool_is_no_later_tools() -> None:
    spans = [
        tool_span("one", "search", parent="m1", at=1),
        model_span("m1", requests=[("c1", "search", "a")], seconds=3),
        tool_span("two", "search", at=4),
    ]
    assert everywhere(*spans).calls["t1", "two"].call.reading.arguments is None


def test_an_invoker_that_made_several_calls_has_a_row_for_each() -> None:
    invoker = invoker_span("component", ("c1", "search", "x"), ("c2", "fetch", "y"), parent="root")
    store = everywhere(invoker, agent_span("root", seconds=5))
    found = {key[1]: (recorded.call.reading.tool, recorded.call.agent) for key, recorded in store.calls.items()}
    assert found == {"component#1": ("search", "clerk"), "component#2": ("fetch", "clerk")}


# What agents used altogether.


def used(tokens: int) -> dict[str, int]:
    return {"gen_ai.usage.input_tokens": tokens, "gen_ai.usage.output_tokens": 1}


def test_agents_totals_count_where_no_model_call_tells_its_own_and_only_the_outermost() -> None:
    inner = agent_span("inner", "scout", parent="outer", more=used(7), at=1)
    outer = agent_span("outer", "clerk", more=used(10), seconds=5)
    call = tool_span("call", "search:cats=x", parent="inner", at=1, seconds=0.5)
    store = everywhere(call, inner, outer)
    assert (store.runs["t1"].root_input_tokens, store.runs["t1"].root_output_tokens) == (10, 1)
    rows = {key[1]: (row.call.reading.input_tokens, row.outcome.step) for key, row in store.calls.items()}
    assert rows == {"call": (None, 1), "outer": (10, 0)}


def test_agents_beside_each_other_are_added_up() -> None:
    agents = [agent_span(name, name, parent="root", more=used(10), at=at) for at, name in enumerate("ab")]
    store = everywhere(*agents, make_span("root", seconds=9))
    assert store.runs["t1"].root_input_tokens == 20
    assert sorted(key[1] for key in store.calls) == ["a", "b"]


def test_agents_totals_stand_beside_what_model_calls_tell() -> None:
    """They are compared with the calls' sum, and never added to it."""
    store = everywhere(model_span("model", parent="root", at=1), agent_span("root", more=used(10), seconds=5))
    assert store.runs["t1"].root_input_tokens == 10
    assert list(store.calls) == [("t1", "model")]


def test_model_calls_that_tell_no_usage_are_counted_as_they_are() -> None:
    silent = model_span("model", parent="root", at=1, more={"gen_ai.usage.input_tokens": None})
    store = everywhere(silent, agent_span("root", more=used(10), seconds=5))
    assert store.runs["t1"].root_input_tokens == 10
    assert list(store.calls) == [("t1", "model")]


# One step's tools as a trace of their own.


def test_one_steps_tools_below_a_root_that_names_the_conversation_are_part_of_it() -> None:
    more = {"gen_ai.conversation.id": "talk"}
    spans = [
        model_span("m", trace="t1", more=more),
        tool_span("call", "search:a=x", trace="t2", parent="step", at=2),
        make_span("step", more, trace="t2", at=2, seconds=2),
        model_span("m", trace="t3", at=5, more=more),
    ]
    assert {trace.run_id for trace in everywhere(*spans).traces.values()} == {"t1"}


def test_a_request_that_serves_a_whole_task_is_a_run_of_its_own() -> None:
    more = {"gen_ai.conversation.id": "talk"}
    spans = [
        model_span("m", trace="t1", more=more),
        tool_span("call", "search:a=x", trace="t2", parent="post", at=2),
        model_span("asks", trace="t2", parent="post", at=3),
        make_span("post", more, trace="t2", at=2, seconds=3),
    ]
    assert {trace.run_id for trace in everywhere(*spans).traces.values()} == {"t1", "t2"}


def test_messages_that_make_no_sense_tell_nothing() -> None:
    for messages in ("[", "[[1]]", json.dumps([{"role": "tool", "parts": 7}])):
        told = model_span("model", at=2, more={"gen_ai.input.messages": messages})
        assert results(stored([tool_span("call", "search:cats", call_id="c1"), told])) == {"call": None}
