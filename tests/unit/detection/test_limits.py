from __future__ import annotations

import pytest

from otel_processor.detection.run_state import RunState
from otel_processor.model import Call, Pattern, Reading, Role, StopReason
from otel_processor.policy import Policy
from tests.unit.detection.small_runs import alarms, call, run

LIMIT = Pattern.LIMIT


def turn(number: int, *, tokens: int = 0, cost: float | None = None, at_seconds: float = 0.0) -> Call:
    at = int(at_seconds * 1e9) + 1
    reading = Reading(role=Role.MODEL, input_tokens=tokens, output_tokens=tokens, cost_usd=cost)
    return Call("t", f"{number:04}", Role.MODEL, "", at, at, reading)


def first_told(policy: Policy, *calls: Call) -> tuple[int, StopReason | None] | None:
    state = RunState(policy)
    for position, each in enumerate(calls):
        for verdict in state.observe(each).verdicts:
            if verdict.pattern is LIMIT:
                return position, verdict.stop_reason
    return None


def test_nothing_is_limited_unless_it_is_set() -> None:
    assert first_told(Policy(), *(turn(n, tokens=10**9, cost=1e6, at_seconds=n * 1e5) for n in range(300))) is None


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(max_steps=5), (5, StopReason.MAX_STEPS)),
        (Policy(max_tokens=500), (5, StopReason.MAX_TOKENS)),
        (Policy(max_cost_usd=0.5), (5, StopReason.MAX_COST)),
        (Policy(timeout_seconds=50), (6, StopReason.TIMEOUT)),
        (Policy(max_steps=5, patterns=frozenset(Pattern) - {LIMIT}), None),
    ],
)
def test_what_goes_beyond_a_limit_is_told_once(policy: Policy, expected: tuple[int, StopReason] | None) -> None:
    assert first_told(policy, *(turn(n, tokens=50, cost=0.1, at_seconds=n * 10) for n in range(9))) == expected


def test_the_last_call_that_a_limit_allows_is_fine() -> None:
    assert alarms(run("search:a=x", "search:b=y", policy=Policy(max_tool_calls=2)), LIMIT) == []
    assert alarms(run("search:a=x", "search:b=y", "search:c=z", policy=Policy(max_tool_calls=2)), LIMIT) == [2]


def test_a_limit_of_steps_may_count_tool_calls() -> None:
    words = ["*", "search:a=x", "search:b=y", "search:c=z"]
    assert alarms(run(*words, policy=Policy(max_steps=2)), LIMIT) == []
    assert alarms(run(*words, policy=Policy(max_steps=2, max_steps_counts="tool_calls")), LIMIT) == [3]


def test_progress_does_not_resolve_what_is_used_up() -> None:
    outcomes = run("search:a=x", "search:b=y", "search:c=z", policy=Policy(max_tool_calls=1))
    assert alarms(outcomes, LIMIT) == [1]
    assert outcomes[-1].resolved == ()
    assert outcomes[-1].standing is not None


def test_a_price_that_was_worked_out_counts_like_one_that_was_told() -> None:
    state = RunState(Policy(max_cost_usd=1))
    assert not state.observe(turn(0)._replace(cost_usd=0.9)).verdicts
    assert state.observe(turn(1)._replace(cost_usd=0.2)).verdicts[0].stop_reason is StopReason.MAX_COST


def test_two_agents_use_up_one_limit() -> None:
    assert alarms(run("ann/search:a=x", "bob/search:a=x", "ann/search:b=y", policy=Policy(max_tool_calls=2)), LIMIT) == [2]
    assert call("ann/search:a").agent == "ann"
