from __future__ import annotations

import pytest

from otel_processor.detection.run_state import RunState
from otel_processor.model import History, Pattern
from otel_processor.policy import Policy
from tests.unit.detection.test_limits import turn

SPIKE = Pattern.SPEND_SPIKE
HISTORY = History(runs=20, steps=4.0, tokens=1_000.0, cost_usd=0.1)


def first_told(
    history: History | None, *, tokens: int = 0, cost: float = 0.0, policy: Policy | None = None
) -> tuple[int, str] | None:
    state = RunState(policy or Policy())
    state.history = history
    for number in range(40):
        for verdict in state.observe(turn(number, tokens=tokens, cost=cost)).verdicts:
            if verdict.pattern is SPIKE:
                assert verdict.stop_reason is None
                return number, verdict.evidence["measure"]
    return None


def test_three_times_what_nearly_all_runs_took_is_told() -> None:
    assert first_told(HISTORY) == (12, "steps")
    assert first_told(HISTORY, tokens=500) == (3, "tokens")
    assert first_told(HISTORY, cost=0.2) == (1, "cost_usd")


@pytest.mark.parametrize(
    "history",
    [None, HISTORY._replace(runs=19), HISTORY._replace(steps=None, tokens=None, cost_usd=None), HISTORY._replace(steps=0)],
)
def test_without_a_history_nothing_is_a_spike(history: History | None) -> None:
    assert first_told(history) is None


def test_how_much_is_far_and_how_many_make_a_history_is_policy() -> None:
    assert first_told(HISTORY, policy=Policy(spend_spike_factor=5)) == (20, "steps")
    assert first_told(HISTORY._replace(runs=3), policy=Policy(spend_spike_runs=3)) == (12, "steps")
    assert first_told(HISTORY, policy=Policy(patterns=frozenset(Pattern) - {SPIKE})) is None
