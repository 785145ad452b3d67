"""Why runs end, told by their spans in any order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.model import SpanRecord, StopReason
from tests.unit.factory import agent_span, exception_event, make_span, model_span, tool_span
from tests.unit.runs.small_store import SmallStore

DECLARED = "loop.stop_reason.declared"
MAX_TURNS = [exception_event("agents.exceptions.MaxTurnsExceeded", "Max turns (3) exceeded")]


def ended(*spans: SpanRecord, run: str = "t1") -> tuple[str, str]:
    """Stop reason and status, in order and the other way round."""
    found = set()
    for order in (spans, spans[::-1]):
        for batches in ([order], [[span] for span in order]):
            store = SmallStore()
            for batch in batches:
                store.record(batch)
            found.add((str(store.runs[run].stop_reason), store.runs[run].status))
    assert len(found) == 1
    return found.pop()


def when_idle(*spans: SpanRecord, run: str = "t1") -> str:
    """What an open run is closed as."""
    store = SmallStore()
    store.record(spans)
    assert (store.runs[run].stop_reason, store.runs[run].status) == (StopReason.RUNNING, "running")
    return str(store.runs[run].idle_reason)


def root(**fields: Any) -> SpanRecord:
    return agent_span("root", **{"seconds": 20, **fields})


MODEL = model_span("model", parent="root", at=1, finish="tool_calls")
TOOL = tool_span("tool", parent="root", at=3)
ANSWER = model_span("answer", parent="root", at=5, finish="stop")


def test_a_run_that_answers_is_completed_and_then_no_idle_reason_is_left() -> None:
    assert ended(MODEL, TOOL, ANSWER, root()) == ("completed", "ok")
    store = SmallStore()
    store.record([MODEL, TOOL, ANSWER, root()])
    assert store.runs["t1"].idle_reason is None


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("length", "model_length"), ("content_filter", "content_filter"), ("refusal", "refused"), ("whatever", "completed")],
)
def test_the_last_answer_of_the_model_tells_why(finish: str, reason: str) -> None:
    last = model_span("last", parent="root", at=9, finish=finish)
    assert ended(MODEL, TOOL, ANSWER, last, root()) == (reason, "ok")


def test_a_model_that_asked_for_tools_last_is_no_trouble_where_the_root_closed_well() -> None:
    assert ended(ANSWER, model_span("last", parent="root", at=7, finish="tool_calls"), root()) == ("completed", "ok")
    assert ended(MODEL, TOOL, root()) == ("completed", "ok")


def test_an_agent_that_finished_asking_for_tools_that_ran_was_at_its_limit_of_steps() -> None:
    at_limit = root(more={"gen_ai.response.finish_reasons": ["tool_calls"]})
    assert ended(MODEL, TOOL, at_limit) == ("max_steps_reached", "ok")
    # Nobody ran them: the answer has the shape of a call, or the caller runs them.
    assert ended(MODEL, at_limit) == ("completed", "ok")
    # The last one of a list of all turns.
    assert ended(MODEL, TOOL, ANSWER, at_limit) == ("completed", "ok")


def test_the_word_of_the_agent_goes_before_the_model() -> None:
    assert ended(ANSWER, root(more={"gen_ai.response.finish_reasons": ["error_max_turns"]})) == ("max_steps_reached", "ok")


def test_a_root_that_failed_ends_its_run_by_what_it_says() -> None:
    assert ended(MODEL, TOOL, root(status="ERROR")) == ("error", "error")
    assert ended(MODEL, TOOL, root(status="ERROR", events=MAX_TURNS)) == ("max_steps_reached", "error")


def test_the_outermost_that_says_something_goes_first() -> None:
    inner = agent_span("inner", parent="root", at=0, seconds=19, status="ERROR", events=[exception_event("CancelledError", "")])
    timed_out = make_span("root", seconds=20, status="ERROR", status_message="TimeoutError: ")
    silent = make_span("root", seconds=20, status="ERROR", status_message="gave up")
    call = tool_span("tool", parent="inner", at=3)
    assert ended(call, inner, timed_out) == ("timeout", "error")
    assert ended(call, inner, silent) == ("cancelled", "error")
    # The program caught it, and the run was over all the same.
    assert ended(call, inner, make_span("root", seconds=20)) == ("cancelled", "error")


def test_a_failure_that_the_agent_went_on_from_ended_nothing() -> None:
    part = agent_span("part", "helper", parent="root", at=1, seconds=3, status="ERROR", events=MAX_TURNS)
    inside = tool_span("inside", parent="part", at=2)
    assert ended(inside, part, ANSWER, root()) == ("completed", "ok")
    assert ended(inside, part, root()) == ("max_steps_reached", "error")


CANCELLED = [exception_event("asyncio.exceptions.CancelledError", "")]


def test_a_run_may_end_further_down_while_those_above_close_as_if_nothing_had_been() -> None:
    cancelled = tool_span("last", parent="root", at=7, status="ERROR", events=CANCELLED)
    assert ended(MODEL, TOOL, cancelled, root()) == ("cancelled", "ok")
    assert ended(MODEL, TOOL, cancelled, root(status="ERROR")) == ("cancelled", "error")
    plain = make_span("turn", parent="root", at=7, seconds=3, status="ERROR", status_message="Guardrail tripwire triggered")
    assert ended(MODEL, TOOL, ANSWER, plain, root()) == ("content_filter", "ok")


def test_what_was_cancelled_on_the_way_ended_nothing() -> None:
    cancelled = tool_span("tool", parent="root", at=3, status="ERROR", events=CANCELLED)
    assert ended(MODEL, cancelled, ANSWER, root()) == ("completed", "ok")
    listener = make_span("listen", parent="root", at=9, seconds=1, status="ERROR", events=CANCELLED)
    assert ended(MODEL, TOOL, ANSWER, listener, root()) == ("completed", "ok")
    assert ended(MODEL, TOOL, listener, root()) == ("cancelled", "ok")
    timed_out = tool_span("last", parent="root", at=7, status="ERROR", events=[exception_event("TimeoutError", "")])
    assert ended(MODEL, TOOL, timed_out, root()) == ("completed", "ok")


def test_of_a_run_over_several_traces_the_last_root_tells() -> None:
    more = {"loop.run.id": "chat"}
    first = [tool_span("one", parent="r1", more=more), agent_span("r1", more=more, seconds=5, status="ERROR")]
    second = [
        tool_span("two", trace="t2", parent="r2", at=10, more=more),
        agent_span("r2", trace="t2", at=9, seconds=5, more=more),
    ]
    assert ended(*first, *second, run="chat") == ("completed", "ok")
    assert ended(*first, run="chat") == ("error", "error")


def test_what_is_declared_wins_the_last_one_where_there_are_several() -> None:
    calls = [
        tool_span("one", parent="root", at=1, more={DECLARED: "timeout"}),
        make_span("two", {DECLARED: "handed_to_human"}, parent="root", at=4),
        ANSWER,
    ]
    assert ended(*calls, root()) == ("handed_to_human", "ok")
    assert ended(*calls, root(status="ERROR", events=MAX_TURNS)) == ("handed_to_human", "error")
    assert ended(*calls, root(more={DECLARED: "loop_detected:cycle"})) == ("loop_detected:cycle", "ok")
    assert ended(ANSWER, root(more={DECLARED: "no idea"})) == ("completed", "ok")
    assert when_idle(*calls) == "handed_to_human"


def test_an_error_that_is_declared_leaves_it_to_the_exception_to_say_more() -> None:
    failed = {"status": "ERROR", "more": {DECLARED: "error"}}
    assert ended(ANSWER, root(events=MAX_TURNS, **failed)) == ("max_steps_reached", "error")
    assert ended(ANSWER, root(**failed)) == ("error", "error")
    assert ended(ANSWER, root(more={DECLARED: "error"})) == ("error", "error")


def test_an_open_run_whose_agent_never_comes_is_abandoned_however_its_model_stopped() -> None:
    assert when_idle(MODEL, TOOL) == "abandoned"
    assert when_idle(MODEL, TOOL, ANSWER) == "abandoned"


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ([model_span("m", finish="stop")], "completed"),
        ([model_span("m", finish="length")], "model_length"),
        ([model_span("m")], "unknown"),
        ([model_span("m", finish="tool_calls"), tool_span("t", at=2)], "unknown"),
        ([tool_span("t")], "unknown"),
        ([model_span("m", finish="stop"), tool_span("t", at=2)], "unknown"),
        ([tool_span("t"), model_span("m", at=2, status="ERROR")], "error"),
        ([model_span("m", at=2, status="ERROR", status_message="context_length_exceeded")], "model_length"),
    ],
)
def test_calls_that_have_no_agent_above_them_end_as_their_last_one_says(spans: list[SpanRecord], reason: str) -> None:
    assert when_idle(*spans) == reason


@st.composite
def endings(draw: st.DrawFn) -> list[SpanRecord]:
    spans = []
    for number in range(draw(st.integers(1, 7))):
        fields: dict[str, Any] = {
            "parent": draw(st.sampled_from([None, "0", "1", "gone"])) if number else None,
            "at": draw(st.integers(0, 5)),
            "seconds": draw(st.integers(1, 5)),
            "status": draw(st.sampled_from(["UNSET", "OK", "ERROR"])),
            "status_message": draw(st.sampled_from(["", "TimeoutError: ", "CancelledError: "])),
        }
        more = {DECLARED: draw(st.sampled_from(["cancelled", "refused"]))} if draw(st.integers(0, 9)) == 0 else {}
        kind = draw(st.sampled_from(["agent", "model", "tool", "plain"]))
        finish = draw(st.sampled_from([None, "stop", "length", "tool_calls"]))
        if kind == "agent":
            told = {"gen_ai.response.finish_reasons": [finish]} if finish else {}
            spans.append(agent_span(str(number), more=more | told, **fields))
        elif kind == "model":
            spans.append(model_span(str(number), finish=finish, more=more, **fields))
        elif kind == "tool":
            spans.append(tool_span(str(number), f"search:{number}=x", more=more, **fields))
        else:
            spans.append(make_span(str(number), more, **fields))
    return spans


@given(endings(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(spans: list[SpanRecord], order: Any) -> None:
    shuffled = list(spans)
    order.shuffle(shuffled)
    whole, pieces = SmallStore(), SmallStore()
    whole.record(spans)
    for span in shuffled:
        pieces.record([span])
    assert pieces.runs == whole.runs
