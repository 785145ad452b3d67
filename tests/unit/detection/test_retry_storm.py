from __future__ import annotations

import pytest

from otel_processor.detection.run_state import RunState
from otel_processor.model import Pattern, StopReason
from otel_processor.policy import Policy
from tests.unit.detection.small_runs import alarms, call, run, verdicts

STORM = Pattern.RETRY_STORM


def test_a_transient_failure_is_tolerated_five_times() -> None:
    outcomes = run(*["search:a!HTTP 429"] * 7)
    assert alarms(outcomes, STORM) == [5]
    verdict = outcomes[5].verdicts[0]
    assert (verdict.stop_reason, verdict.evidence["error_class"]) == (StopReason.RETRY_STORM, "transient")
    assert verdict.message == "search was called 6 times with the same arguments and failed each time"


def test_the_pauses_between_the_attempts_are_evidence() -> None:
    state = RunState(Policy(transient_tolerance=3))
    at = 0
    for number, pause in enumerate([0, 1, 2, 4]):
        at += pause * 1_000_000_000
        outcome = state.observe(call("search:a!HTTP 503", number)._replace(start_ns=at, end_ns=at))
    (verdict,) = outcome.verdicts
    assert verdict.evidence["pauses_seconds"] == [1.0, 2.0, 4.0]
    assert verdict.evidence["backs_off"] is True


@pytest.mark.parametrize("failure", ["401 unauthorized", "403 forbidden", "404 not found", "422 validation error"])
def test_what_no_retry_heals_is_a_warning_at_the_second_and_a_stop_at_the_third_time(failure: str) -> None:
    assert verdicts(run(*[f"get_order:1!{failure}"] * 3))[:2] == [(1, "retry_storm nudge"), (2, "retry_storm stop")]


def test_a_warning_carries_no_stop_reason() -> None:
    assert run(*["get_order:1!404 not found"] * 2)[1].verdicts[0].stop_reason is None


def test_a_corrected_argument_is_no_repeat() -> None:
    assert alarms(run("book:date 1!422 invalid value", "book:date 2=booked", "book:date 3!422 invalid value"), STORM) == []


def test_one_address_after_the_other_that_does_not_exist_is_told_at_the_fourth() -> None:
    outcomes = run(*[f"fetch:docs/guide {letter}!HTTP 404 page not found" for letter in "abcde"])
    assert alarms(outcomes, STORM) == [3]
    assert "for the same reason, whatever it was asked" in outcomes[3].verdicts[0].message


PROGRAMS = [
    "Traceback (most recent call last): \n  File x, line 4\nKeyError: 'close_price'",
    "Traceback (most recent call last): \n  File x, line 9\nKeyError: 'Column not found, close_price'",
    "KeyError: close_price does not exist",
    "polars.exceptions.ColumnNotFoundError: close_price",
]


def test_programs_that_are_rewritten_and_fail_for_the_same_reason() -> None:
    runs = [f"python:program {'x' * number}!{text}" for number, text in enumerate([*PROGRAMS[:3], *PROGRAMS[:2]])]
    assert alarms(run(*runs), STORM) == [3]


def test_programs_that_fail_for_another_reason_each_time_are_work() -> None:
    texts = ["SyntaxError: invalid syntax", "NameError: name 'df' is not defined", "KeyError: 'close'", "ValueError: empty frame"]
    assert alarms(run(*[f"python:program {'x' * n}!{text}" for n, text in enumerate(texts * 2)]), STORM) == []


def test_a_failure_that_says_nothing_is_an_answer() -> None:
    assert alarms(run(*[f"bash:grep -rn {'x' * number} src![exit code 1]" for number in range(1, 9)]), STORM) == []


def test_a_tool_that_does_not_exist_is_told_at_the_third_call_whatever_was_asked() -> None:
    words = [f"suggest_fix:try {letter}!unknown command suggest_fix" for letter in "abc"]
    outcomes = run(words[0], "search:x=found a thing", words[1], words[2])
    assert alarms(run(*words), STORM) == [2]
    assert alarms(outcomes, STORM) == []


def test_the_same_failing_test_after_five_edits_is_told() -> None:
    words = [word for number in range(7) for word in (f"edit_file:change {'x' * number}=ok", "run_tests:all!FAILED test_overlap")]
    outcomes = run(*words)
    assert alarms(outcomes, STORM) == [9]
    told = next(verdict for verdict in outcomes[9].verdicts if verdict.pattern is STORM)
    assert told.message == "run_tests failed 5 times for the same reason, whatever was tried in between"


def test_a_failing_test_whose_answer_moves_is_work() -> None:
    words = [
        word
        for number in range(9)
        for word in (f"edit_file:change {'x' * number}=ok", f"run_tests:all!{9 - number} tests failed")
    ]
    assert alarms(run(*words), STORM) == []


def test_reading_something_new_in_between_is_work() -> None:
    page = " ".join(f"{{0}}{ending}" for ending in "er ing ed ly ment ness ful ation able ible ity ous ive al ic ism ist".split())
    words = [
        word
        for name in "alpha beta gamma delta epsilon zeta eta theta".split()
        for word in (
            f"edit_file:change {name}=ok",
            "run_tests:all!FAILED test_overlap",
            f"read_file:{name}={page.format(name * 9)}",
        )
    ]
    assert alarms(run(*words), STORM) == []


def test_attempts_of_layers_below_are_counted_as_what_they_are() -> None:
    state = RunState(Policy())
    found = [state.observe(call(f"fetch:{n}!HTTP 503", n)._replace(attempts=4)).verdicts for n in range(4)]
    assert [[verdict.pattern for verdict in each] for each in found[:2]] == [[], []]
    (verdict,) = next(each for each in found if each)
    assert verdict.pattern is STORM
    assert verdict.evidence["attempts"] >= 12


def test_a_success_ends_the_row() -> None:
    words = [
        "fetch:a!404 page not found",
        "fetch:b!404 page not found",
        "fetch:c=something was found",
        "fetch:d!404 page not found",
    ]
    assert alarms(run(*words * 3), STORM) == []


def test_the_numbers_are_policy() -> None:
    assert alarms(run(*["get_order:1!404 not found"] * 6, policy=Policy(retry_permanent=4)), STORM) == [3, 4]
    words = [f"fetch:docs/guide {letter}!HTTP 404 page not found" for letter in "abcdefgh"]
    assert alarms(run(*words, policy=Policy(retry_failures=6, same_failures=9)), STORM) == [5]
