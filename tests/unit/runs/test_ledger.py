from __future__ import annotations

import pytest

from otel_processor.model import Pattern, SpanRecord, StopReason
from otel_processor.policy import Policy
from otel_processor.runs.ledger import Ledger
from otel_processor.runs.records import TraceRun
from tests.unit.factory import agent_span, make_span, model_span, read, tool_span
from tests.unit.runs.small_store import SmallStore

RUN = "loop.run.id"


def stored(*batches: list[SpanRecord], policy: Policy | None = None) -> SmallStore:
    store = SmallStore(policy)
    for batch in batches:
        store.record(batch)
    return store


# Which run is it?


def test_a_run_declared_on_the_root_wins() -> None:
    store = stored([tool_span("call", parent="root"), agent_span("root", more={RUN: "mine"}, seconds=5)])
    assert store.traces == {"t1": TraceRun("t1", "mine", "declared")}
    assert list(store.runs) == ["mine"]


def test_a_run_declared_above_a_call_wins_for_that_call() -> None:
    store = stored(
        [
            tool_span("inside", parent="part", at=0),
            make_span("part", {RUN: "mine"}, parent="root", at=0, seconds=2),
            tool_span("outside", parent="root", at=2),
            agent_span("root", seconds=5),
        ]
    )
    assert (store.run_of("inside"), store.run_of("outside")) == ("mine", "t1")
    assert sorted(store.runs) == ["mine", "t1"]


def test_a_run_declared_on_every_span_gathers_traces_and_leaves_no_other_run() -> None:
    more = {RUN: "mine"}
    store = stored(
        [tool_span(f"{trace}.call", trace=trace, parent="elsewhere", at=at, more=more) for at, trace in enumerate("ab")]
    )
    assert [store.run_of(f"{trace}.call", trace) for trace in "ab"] == ["mine", "mine"]
    assert list(store.runs) == ["mine"]
    assert [recorded.outcome.repeats for recorded in store.calls.values()] == [1, 2]


def test_a_run_declared_on_the_root_that_comes_last_is_decided_anew() -> None:
    store = stored([tool_span("call", parent="root")], [agent_span("root", more={RUN: "mine"}, seconds=5)])
    assert store.decided_anew == 1
    assert store.traces == {"t1": TraceRun("t1", "mine", "declared")}
    assert list(store.runs) == ["mine"]


def test_without_a_declaration_an_agents_trace_is_a_run() -> None:
    assert stored([tool_span("call", parent="root"), agent_span("root", seconds=5)]).traces["t1"].decided_by == "agent_root"


def test_calls_that_are_traces_of_their_own_share_the_run_of_their_conversation() -> None:
    more = {"gen_ai.conversation.id": "talk"}
    store = stored(*[[model_span("call", trace=f"t{number}", at=number * 60, more=more)] for number in range(3)])
    assert {trace.run_id for trace in store.traces.values()} == {"t0"}
    assert {trace.decided_by for trace in store.traces.values()} == {"conversation"}


def test_a_conversation_is_cut_where_it_was_idle_for_long() -> None:
    more = {"gen_ai.conversation.id": "talk"}
    policy = Policy(run_idle_timeout_seconds=100)
    spans = [model_span("call", trace=f"t{at}", at=at, more=more) for at in (0, 101, 203)]
    assert [trace.run_id for trace in stored(spans, policy=policy).traces.values()] == ["t0", "t0", "t203"]
    late = stored([spans[0]], [spans[2]], [spans[1]], policy=policy)
    assert {trace_id: trace.run_id for trace_id, trace in late.traces.items()} == {"t0": "t0", "t101": "t0", "t203": "t203"}


def test_a_late_call_joins_the_runs_between_which_it_lies() -> None:
    more = {"gen_ai.conversation.id": "talk"}
    policy = Policy(run_idle_timeout_seconds=100)
    spans = [model_span("call", trace=f"t{at}", at=at, more=more) for at in (0, 150, 75)]
    store = stored([spans[0]], [spans[1]], [spans[2]], policy=policy)
    assert {trace.run_id for trace in store.traces.values()} == {"t0"}
    assert list(store.runs) == ["t0"]


def test_conversations_of_two_services_are_two_runs() -> None:
    more = {"gen_ai.conversation.id": "talk"}
    store = stored([model_span("call", trace=f"t{name}", service=name, more=more) for name in "ab"])
    assert {trace.run_id for trace in store.traces.values()} == {"ta", "tb"}


def test_a_call_without_anything_around_it_is_its_traces_run() -> None:
    assert stored([tool_span("call")]).traces == {"t1": TraceRun("t1", "t1", "trace")}


def test_a_trace_without_a_call_or_an_agent_is_no_run() -> None:
    store = stored([make_span("a"), make_span("b", parent="a", at=2)])
    assert (store.traces, store.runs, store.calls) == ({}, {}, {})


# What is it for, and how did it go?


@pytest.mark.parametrize(
    ("root", "task", "agent"),
    [
        (agent_span("root", "clerk", more={"loop.task": "refund", "loop.task.type": "code"}, seconds=5), "refund", "clerk"),
        (agent_span("root", "clerk", seconds=5), "clerk", "clerk"),
        (make_span("root", name="POST /ask", seconds=5), "POST /ask", None),
    ],
)
def test_the_task_is_declared_else_the_agent_else_the_roots_name(root: SpanRecord, task: str, agent: str | None) -> None:
    run = stored([tool_span("call", parent="root"), root]).runs["t1"]
    assert (run.task, run.agent) == (task, agent)


def test_the_outermost_agent_names_the_task_in_whatever_order_they_come() -> None:
    inner, outer = agent_span("inner", "scout", parent="outer"), agent_span("outer", "chief", seconds=5)
    for batches in ([[inner, outer]], [[inner], [outer]], [[outer], [inner]]):
        assert stored(*batches).runs["t1"].task == "chief"


def test_a_run_goes_on_until_its_root_has_come() -> None:
    store = stored([tool_span("call", parent="root")])
    assert (store.runs["t1"].status, store.runs["t1"].stop_reason) == ("running", StopReason.RUNNING)
    store.record([agent_span("root", seconds=5)])
    assert (store.runs["t1"].status, store.runs["t1"].stop_reason) == ("ok", StopReason.COMPLETED)
    assert store.runs["t1"].ended_ns == 65_000_000_000


def test_how_a_run_ended_is_told_by_its_root_else_by_the_models_last_answer() -> None:
    calls = [model_span("m1", parent="root", finish="stop"), model_span("m2", parent="root", at=2, finish="length")]
    assert stored([*calls, agent_span("root", seconds=5)]).runs["t1"].stop_reason is StopReason.MODEL_LENGTH
    assert stored([*calls, agent_span("root", seconds=5, status="ERROR")]).runs["t1"].stop_reason is StopReason.ERROR


def test_a_loop_flags_the_run_and_its_end_resolves_the_alert() -> None:
    store = SmallStore()
    delta = store.record([tool_span(f"call {number}", parent="root", at=number) for number in range(3)])
    assert [(alert.verdict.pattern, alert.span_id) for alert in delta.alerts] == [(Pattern.HARD_LOOP, "call 2")]
    delta = store.record([agent_span("root", seconds=9)])
    assert [(over.pattern, over.at_ns) for over in delta.resolutions] == [(Pattern.HARD_LOOP, 69_000_000_000)]
    assert store.runs["t1"].flagged_reason is StopReason.REPEATED_SIGNATURE
    assert store.runs["t1"].stop_reason is StopReason.COMPLETED


# Whose call is it?


def test_an_agent_that_comes_last_names_the_calls_below_it() -> None:
    store = stored(
        [tool_span("call", parent="chain")], [make_span("chain", parent="root")], [agent_span("root", "clerk", seconds=5)]
    )
    assert store.decided_anew == 0
    assert store.calls["t1", "call"].call.agent == "clerk"
    store.record([tool_span("late", parent="chain", at=7)])
    assert store.calls["t1", "late"].outcome.repeats == 2


def test_a_sub_agent_that_comes_late_is_decided_anew() -> None:
    store = stored(
        [tool_span("call", parent="sub"), tool_span("own", parent="root", at=1)], [agent_span("sub", "scout", parent="root")]
    )
    assert store.decided_anew == 1
    assert {key[1]: recorded.call.agent for key, recorded in store.calls.items()} == {"call": "scout", "own": ""}
    store.record([agent_span("root", "clerk", seconds=5)])
    assert store.calls["t1", "own"].call.agent == "clerk"
    assert store.calls["t1", "own"].outcome.repeats == 1


def test_a_plain_span_that_comes_late_may_lead_to_an_agent() -> None:
    store = stored(
        [tool_span("call", parent="chain"), agent_span("root", "clerk", seconds=5)], [make_span("chain", parent="root")]
    )
    assert store.calls["t1", "call"].call.agent == "clerk"


def test_an_agent_that_names_its_own_model_calls_takes_the_unnamed_ones_along() -> None:
    named = model_span("model", parent="root", more={"gen_ai.agent.name": "clerk"})
    store = stored([named, tool_span("call", parent="root", at=1)], [agent_span("root", "clerk", seconds=5)])
    assert {recorded.call.agent for recorded in store.calls.values()} == {"clerk"}
    assert store.calls["t1", "call"].outcome.step == 1


# One call, several spans.


def test_a_call_that_two_spans_tell_is_recorded_once_with_what_both_say() -> None:
    server = tool_span("server", "search:cats", parent="client")
    client = tool_span("client", "search=found", call_id="c1", at=0, seconds=2)
    for batches in ([[server, client]], [[client, server]], [[server], [client]], [[client], [server]]):
        store = stored(*batches)
        ((key, recorded),) = store.calls.items()
        assert key == ("t1", "server")
        assert recorded.call.reading.arguments == {"q": "cats"}
        assert (recorded.call.reading.result, recorded.call.reading.call_id) == ("found", "c1")


def test_arguments_that_only_the_model_told_are_used() -> None:
    store = stored([model_span("model", requests=[("c1", "search", "cats")]), tool_span("call", "search=x", call_id="c1", at=1)])
    assert store.calls["t1", "call"].call.reading.arguments == {"q": "cats"}
    assert store.calls["t1", "call"].call.signature is not None


def test_the_next_request_for_a_tool_is_used_where_ids_are_missing() -> None:
    requests = [("c1", "search", "cats"), ("c2", "search", "dogs")]
    calls = [tool_span("one", "search=x", at=1), tool_span("two", "search=y", at=2), tool_span("three", "search=z", at=3)]
    store = stored([model_span("model", requests=requests), *calls])
    told = [store.calls["t1", name].call.reading.arguments for name in ("one", "two", "three")]
    assert told == [{"q": "cats"}, {"q": "dogs"}, None]


# Order.


def test_what_ends_before_something_recorded_is_stale() -> None:
    ledger = Ledger(Policy())
    assert ledger.apply([read(tool_span("b", at=5))]).stale_traces == set()
    delta = ledger.apply([read(tool_span("a", at=0)), read(tool_span("x", trace="t2"))])
    assert delta.stale_traces == {"t1"}
    assert [recorded.call.span_id for recorded in delta.calls] == ["x"]


def test_all_traces_of_a_shared_run_are_stale_together() -> None:
    more = {RUN: "mine"}
    ledger = Ledger(Policy())
    ledger.apply([read(tool_span("b", at=5, more=more)), read(tool_span("d", trace="t3", at=5))])
    assert ledger.apply([read(tool_span("a", trace="t2", more=more))]).stale_traces == {"t1", "t2"}


def test_what_was_forgotten_is_taken_in_anew() -> None:
    ledger = Ledger(Policy())
    spans = [read(tool_span(name, at=at)) for at, name in enumerate("abc")]
    first = ledger.apply(spans)
    assert ledger.spans_seen("t1") == 3
    ledger.forget(["t1"])
    assert ledger.spans_seen("t1") is None
    assert ledger.apply(spans) == first


def test_forgetting_takes_all_along_that_share_a_run() -> None:
    ledger = Ledger(Policy())
    more = {RUN: "mine"}
    ledger.apply([read(tool_span("a", trace="t1", more=more)), read(tool_span("b", trace="t2", at=1, more=more))])
    ledger.forget(["t1"])
    assert ledger.spans_seen("t2") is None


def test_a_trace_that_only_later_shows_a_run_keeps_what_was_said_before() -> None:
    spans = [make_span(f"plain {number}", parent="root", at=number / 100, seconds=0.001) for number in range(600)]
    root = make_span("root", {"loop.task": "refund"}, at=0, seconds=60)
    store = stored([*spans, root, tool_span("call", parent="root", at=20)])
    assert store.runs["t1"].started_ns == 60_000_000_000
    assert store.runs["t1"].task == "refund"


def test_a_call_outside_the_agent_that_just_named_the_others_stays_unnamed() -> None:
    outside = tool_span("outside", parent="elsewhere", at=6)
    store = stored([tool_span("call", parent="root")], [agent_span("root", "clerk", seconds=5), outside])
    assert {key[1]: recorded.call.agent for key, recorded in store.calls.items()} == {"call": "clerk", "outside": ""}


def test_the_call_that_began_first_names_the_run_of_a_conversation_whichever_ended_first() -> None:
    more = {"gen_ai.conversation.id": "talk"}
    long, short = model_span("call", trace="t9", seconds=50, more=more), model_span("call", trace="t1", at=10, more=more)
    store = stored([short, long])
    assert {trace.run_id for trace in store.traces.values()} == {"t9"}
    assert store.decided_anew == 0


def test_a_trace_that_turns_out_to_hold_an_agent_leaves_its_conversation() -> None:
    more = {"gen_ai.conversation.id": "talk"}
    calls = [model_span("call", trace="t1", more=more), model_span("call", trace="t2", at=9, more=more)]
    store = stored(calls, [agent_span("agent", trace="t1", at=12)])
    assert {trace.run_id for trace in store.traces.values()} == {"t1", "t2"}
    assert {recorded.outcome.step for recorded in store.calls.values()} == {1}


# An agent that died never told its name.


def test_calls_of_an_agent_that_never_told_its_name_count_with_those_of_the_run_that_goes_on() -> None:
    more = {RUN: "mine"}
    before = [tool_span(f"b{number}", trace="t1", parent="died", at=number, more=more) for number in range(2)]
    after = [
        tool_span("a1", trace="t2", parent="root", at=5, more=more),
        agent_span("root", "clerk", trace="t2", at=4, seconds=9, more=more),
    ]
    for batches in ([[*before, *after]], [before, after], [after, before], [[span] for span in (*before, *after)]):
        store = stored(*batches)
        assert {call.call.agent for call in store.calls.values()} == {"clerk"}
        assert [store.calls[key].outcome.repeats for key in (("t1", "b0"), ("t1", "b1"), ("t2", "a1"))] == [1, 2, 3]
    # It did not die, it was late.
    late = agent_span("died", "porter", trace="t1", seconds=4, more=more)
    for batches in ([[*before, *after, late]], [before, after, [late]], [[late], after, before]):
        store = stored(*batches)
        assert [store.calls[key].outcome.repeats for key in (("t1", "b0"), ("t1", "b1"), ("t2", "a1"))] == [1, 2, 1]


def test_a_call_is_told_by_the_span_that_it_overlaps_also_where_its_id_was_used_again() -> None:
    """What comes last, a second span of the first call, is put together with it as it is when all come at once."""
    one, other = {"loop.run.id": "one"}, {"loop.run.id": "other"}
    first = tool_span("first", "search:a=x", call_id="c1", at=0, seconds=3, more=one)
    again = tool_span("again", "search:b=y", call_id="c1", at=10, seconds=3, more=one)
    late = tool_span("late", "search:a=x", call_id="c1", at=0, seconds=3, more=other)
    whole, pieces = SmallStore(), SmallStore()
    whole.record([first, again, late])
    for batch in ([first, again], [late]):
        pieces.record(batch)
    assert set(whole.outcomes()) == {("t1", "first"), ("t1", "again")}
    assert pieces.outcomes() == whole.outcomes()
