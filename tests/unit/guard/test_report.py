"""What a user is shown when a run is over."""

from __future__ import annotations

import json

from otel_processor.policy import Policy
from tests.unit.guard.scripts import CATS, drive, make_guard


def test_a_stopped_run_says_why_what_was_tried_what_there_is_and_what_it_cost() -> None:
    guard = make_guard(goal="find the cat", policy=Policy(nudges_before_stop=0))
    with guard:
        for words in ("search:rex=Rex was seen in Lisbon on Monday", "search:cats=nothing", "search:cats=nothing"):
            guard.on_turn("I look", input_tokens=100, output_tokens=10, cost_usd=0.01)
            drive(guard, words)
        guard.on_turn("and again", input_tokens=100, output_tokens=10, cost_usd=0.01)
        drive(guard, CATS)
    report = guard.report()
    assert report.text() == (
        "The run was stopped: loop_detected:repeated_tool_signature.\n"
        "Seen: search was called 3 times with the same arguments and nothing new came back.\n"
        "Goal: find the cat\n"
        f"It took 4 steps and 3 tool calls in {report.seconds:.1f} s; 1 more was not let through.\n"
        "Spent: 440 tokens (110 of it in steps that brought nothing new), $0.0400 ($0.0100 of it in steps that brought"
        " nothing new).\n"
        "Tried:\n"
        '- search({"q":"rex"}): once; new\n'
        '- search({"q":"cats"}): 2 times, refused once; nothing new\n'
        "What there is so far:\n"
        "- search: Rex was seen in Lisbon on Monday\n"
        "- search: nothing"
    )
    assert json.loads(json.dumps(report.as_dict()))["stop_reason"] == "loop_detected:repeated_tool_signature"


def test_what_the_agent_hands_in_goes_before_what_it_marks_and_that_before_news() -> None:
    guard = make_guard()
    drive(guard, "search:cats=a cat")
    assert guard.report().partial == ("search: a cat",)
    guard.mark_progress("found 1 of 3")
    assert guard.report().partial == ("found 1 of 3",)
    guard.partial("the cat is in Lisbon")
    assert guard.report().partial == ("the cat is in Lisbon",)


def test_what_is_not_told_is_not_known() -> None:
    guard = make_guard()
    drive(guard, CATS, CATS)
    report = guard.report()
    assert (report.input_tokens, report.cost_usd, report.wasted_tokens, report.wasted_cost_usd) == (None,) * 4
    assert "Spent" not in report.text()
    guard.on_turn(input_tokens=5)
    assert (guard.report().input_tokens, guard.report().output_tokens, guard.report().wasted_tokens) == (5, None, 0)


def test_a_step_is_wasted_when_none_of_its_calls_moved() -> None:
    guard = make_guard("observe")
    for calls in ([CATS, CATS], ["search:dogs=a dog", CATS], [CATS], []):
        guard.on_step()
        drive(guard, *calls)
        guard.on_turn(input_tokens=10)
    assert guard.report().wasted_tokens == 10


def test_a_long_run_has_a_short_report() -> None:
    guard = make_guard("observe")
    for number in range(500):
        guard.on_turn("x" * 10_000, input_tokens=1)
        guard.before_tool("search", {"q": f"{number} " * 5_000})
        guard.after_tool(f"{number} " * 5_000)
        guard.mark_progress("x" * 10_000)
    report = guard.report()
    assert len(report.attempts) == 50
    assert report.attempts_left_out == 450
    assert len(report.text()) < 30_000
    assert report.tool_calls == 500
