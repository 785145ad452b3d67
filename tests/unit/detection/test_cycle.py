from __future__ import annotations

import pytest

from otel_processor.model import Pattern, StopReason
from otel_processor.policy import Policy
from tests.unit.detection.small_runs import alarms, run

CYCLE, HARD = Pattern.CYCLE, Pattern.HARD_LOOP


def test_two_calls_in_turn_are_told_in_the_third_round_and_not_as_a_hard_loop() -> None:
    outcomes = run(*["search:a=none", "fetch:b=empty page"] * 4)
    assert alarms(outcomes, CYCLE) == [5]
    assert alarms(outcomes, HARD) == []
    verdict = outcomes[5].verdicts[0]
    assert verdict.stop_reason is StopReason.CYCLE
    assert verdict.message == "the same 2 calls came 3 times in the same order with the same answers (search, fetch)"
    assert verdict.evidence["steps"] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("period", [2, 3, 4, 5, 6])
def test_a_sequence_of_up_to_six_calls_is_seen(period: int) -> None:
    calls = [f"search:{letter * 3}={letter}{letter}" for letter in "abcdef"[:period]]
    assert alarms(run(*calls * 3), CYCLE) == [3 * period - 1]


def test_a_longer_sequence_is_not_looked_for() -> None:
    assert alarms(run(*[f"search:{letter * 3}={letter}{letter}" for letter in "abcdefg"] * 4), CYCLE) == []


def test_putting_in_and_taking_out_again_is_a_cycle_though_each_time_something_is_written() -> None:
    rounds = ["replace:add the guard=done", "run_tests:all!1 failed", "replace:drop the guard=done", "run_tests:all!1 failed"]
    assert alarms(run(*rounds * 4), CYCLE) == [11]


def test_a_round_with_news_is_none() -> None:
    words = [word for number in range(6) for word in (f"search:a=found thing{'x' * number} here", "fetch:b=page")]
    assert alarms(run(*words), CYCLE) == []


def test_waiting_and_asking_may_stand_still_for_as_long_as_a_status() -> None:
    words = ["sleep:30=", "get_build:7=still building"]
    assert alarms(run(*words * 5), CYCLE) == []
    assert alarms(run(*words * 6), CYCLE) == [11]


def test_calls_without_known_arguments_make_no_cycle() -> None:
    assert alarms(run(*["search=none", "fetch=empty"] * 4), CYCLE) == []


def test_rounds_and_period_are_policy() -> None:
    words = ["search:a=none", "fetch:b=empty page"] * 4
    assert alarms(run(*words, policy=Policy(cycle_rounds=2)), CYCLE) == [3]
    assert alarms(run(*words, policy=Policy(patterns=frozenset(Pattern) - {CYCLE})), CYCLE) == []
    triple = [*["search:a=none", "fetch:b=empty page", "search:c=nothing"] * 3]
    assert alarms(run(*triple, policy=Policy(cycle_max_period=2)), CYCLE) == []
