"""A nudge, a few more failures, the end; progress leads back to the ground."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.guard.ladder import Ladder
from otel_processor.model import Action, Pattern, StopReason, Verdict


def finding(action: Action = Action.STOP, pattern: Pattern = Pattern.HARD_LOOP, **more: Any) -> Verdict:
    reason = more.pop("stop_reason", StopReason.REPEATED_SIGNATURE)
    return Verdict(pattern=pattern, action=action, stop_reason=reason, severity="critical", message="x", evidence={})


@pytest.mark.parametrize("allowed", [1, 2, 3])
def test_so_many_failures_after_the_nudge_stop(allowed: int) -> None:
    ladder = Ladder(allowed)
    answers = []
    for _ in range(allowed + 1):
        answers.append(ladder.answer_to(finding()))
        ladder.hold(finding())
    assert answers == [Action.NUDGE] * allowed + [Action.STOP]


def test_flat_calls_are_failures_like_findings() -> None:
    ladder = Ladder(2)
    assert not ladder.fail(), "nobody was nudged yet"
    assert not ladder.hold(finding())
    assert not ladder.fail()
    assert ladder.fail()


def test_none_allowed_stops_at_the_first_finding_that_says_stop() -> None:
    ladder = Ladder(0)
    assert ladder.answer_to(finding(Action.NUDGE)) is Action.NUDGE
    assert not ladder.hold(finding(Action.NUDGE))
    assert not ladder.fail()
    assert ladder.answer_to(finding()) is Action.STOP
    assert ladder.hold(finding())


def test_a_limit_is_no_matter_of_failures() -> None:
    ladder = Ladder(5)
    assert ladder.hold(finding(pattern=Pattern.LIMIT, stop_reason=StopReason.MAX_STEPS))


def test_advice_without_a_stop_reason_never_counts() -> None:
    ladder = Ladder(1)
    unsure = finding(Action.COMPRESS, Pattern.UNCERTAINTY, stop_reason=None)
    for _ in range(5):
        assert ladder.answer_to(unsure) is Action.COMPRESS
        assert not ladder.hold(unsure)
    assert not ladder.fail()


def test_what_the_model_was_told_is_told_again_only_when_it_is_found_anew() -> None:
    ladder = Ladder(2)
    ladder.open(finding(Action.NUDGE, Pattern.NO_PROGRESS))
    ladder.told.add(Pattern.NO_PROGRESS)
    assert ladder.untold() is None
    ladder.open(finding(Action.STOP, Pattern.NO_PROGRESS))
    waiting = ladder.untold()
    assert waiting is not None
    assert waiting.action is Action.STOP
    ladder.close(Pattern.NO_PROGRESS)
    assert ladder.untold() is None


@given(st.lists(st.sampled_from(["hold", "fail", "progress"])), st.integers(1, 4))
def test_between_two_steps_forward_there_are_never_more_failures_than_allowed(events: list[str], allowed: int) -> None:
    """Against a plain count: the run is stopped exactly when that many failures came after a nudge."""
    ladder, nudged, failures = Ladder(allowed), False, 0
    for event in events:
        if event == "progress":
            ladder.step_down()
            nudged, failures = False, 0
            continue
        failures += nudged
        stops = ladder.hold(finding()) if event == "hold" else ladder.fail()
        nudged = nudged or event == "hold"
        assert stops == (nudged and failures >= allowed)
        if stops:
            break
