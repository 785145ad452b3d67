"""The alerts of one run: opened, resolved by what is new, and not opened for ever."""

from __future__ import annotations

from otel_processor.model import Alert, Pattern
from otel_processor.policy import Policy
from otel_processor.runs.tracker import ALERTS_OF_A_PATTERN, RunTracker
from tests.unit.detection.small_runs import call

HARD_LOOPS = Policy(patterns=frozenset({Pattern.HARD_LOOP}))


def told(tracker: RunTracker, words: list[str], first: int = 0) -> tuple[list[Alert], list[Alert]]:
    """What a run opens and what it resolves."""
    opened: list[Alert] = []
    resolved: list[Alert] = []
    for number, said in enumerate(words, first):
        _, more, over = tracker.observe(call(said, number), task=None)
        opened += more
        resolved += over
    return opened, resolved


def rounds(number: int) -> list[str]:
    """Three equal calls, then something new, again and again."""
    each = ["search:cats=nothing"] * 3
    pages = [f"read_page:{at}=page {chr(97 + at % 26) * 9} {chr(65 + at // 26) * 8}" for at in range(number)]
    return [said for page in pages for said in (*each, page)]


def test_what_comes_back_after_something_new_is_another_alert() -> None:
    opened, resolved = told(RunTracker("run", HARD_LOOPS), rounds(2))
    assert [alert.verdict.pattern for alert in opened] == [Pattern.HARD_LOOP] * 2
    assert [alert.alert_id for alert in resolved] == [alert.alert_id for alert in opened]


def test_a_pattern_that_comes_back_again_and_again_is_told_a_few_times_and_then_stays_open() -> None:
    tracker = RunTracker("run", HARD_LOOPS)
    opened, resolved = told(tracker, rounds(200))
    assert len({alert.alert_id for alert in opened}) == len(opened) == ALERTS_OF_A_PATTERN
    assert len(resolved) == ALERTS_OF_A_PATTERN - 1
    assert tracker.open_alerts == (Pattern.HARD_LOOP,)
    assert [alert.alert_id for alert in tracker.finish(1)] == [opened[-1].alert_id]


def test_a_run_that_goes_on_from_a_copy_has_told_as_often() -> None:
    words = rounds(2 * ALERTS_OF_A_PATTERN)
    half = len(words) // 2 - 2
    whole, first = RunTracker("run", HARD_LOOPS), RunTracker("run", HARD_LOOPS)
    opened, _ = told(whole, words)
    before, _ = told(first, words[:half])
    after, _ = told(first.copy(), words[half:], half)
    assert [alert.alert_id for alert in before + after] == [alert.alert_id for alert in opened]


def test_the_alert_that_stays_open_still_becomes_graver() -> None:
    policy = Policy(patterns=frozenset({Pattern.NO_PROGRESS}))
    tracker = RunTracker("run", policy)
    flat = ["search:cats=nothing", "search:dogs=nothing", "search:cows=nothing", "search:mice=nothing", "search:bees=nothing"]
    words = [said for at in range(ALERTS_OF_A_PATTERN + 2) for said in (f"read_page:{at}=page {chr(97 + at) * 9}", *flat)]
    opened, _ = told(tracker, words)
    last = opened[-1]
    assert len({alert.alert_id for alert in opened}) == ALERTS_OF_A_PATTERN
    assert [str(alert.verdict.action) for alert in opened if alert.alert_id == last.alert_id] == ["nudge", "stop"]
