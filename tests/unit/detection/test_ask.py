"""What is held against a call before it is made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.run_state import RunState
from otel_processor.model import Pattern, StopReason, Verdict
from otel_processor.policy import Policy
from tests.unit.detection.small_runs import call

WORDS = st.sampled_from(
    "* search:a=none search:b=none search:a=found search:a!HTTP_503 get_order:1!404_not_found send_email:bob=ok send_email:bob "
    "run_tests:all!1_failed edit_file:x=ok job_status:7=running sleep:30= search:a search:cats search:the_cats".split()
)


def asked(*words: str, then: str, policy: Policy | None = None) -> Verdict | None:
    state = RunState(policy or Policy())
    for number, said in enumerate(words):
        state.observe(call(said, number, policy))
    return state.ask(call(then, len(words), policy))


@pytest.mark.parametrize(
    ("words", "then", "pattern"),
    [
        (["search:a=none"] * 2, "search:a", Pattern.HARD_LOOP),
        (["send_email:bob=ok"], "send_email:bob", Pattern.HARD_LOOP),
        (["get_order:1!404 not found"], "get_order:1", Pattern.RETRY_STORM),
        (["search:a!HTTP 503"] * 5, "search:a", Pattern.RETRY_STORM),
        ([f"open:museum hours{more}=shut" for more in ("", " please", " now")], "open:museum hours ok", Pattern.SOFT_LOOP),
        (["fetch:a=x", "fetch:b=y"] * 2 + ["fetch:a=x"], "fetch:b", Pattern.HARD_LOOP),
    ],
)  # fmt: skip
def test_the_call_that_would_be_one_too_many_is_known_before_it_is_made(words: list[str], then: str, pattern: Pattern) -> None:
    verdict = asked(*words, then=then)
    assert verdict is not None
    assert verdict.pattern is pattern


@pytest.mark.parametrize(
    ("words", "then"),
    [
        ([], "search:a"),
        (["search:a=none"], "search:a"),
        (["search:a=none"] * 2, "search:b"),
        (["search:a!HTTP 503"] * 4, "search:a"),
        (["job_status:7=running"] * 4, "job_status:7"),
        (["search:a=none"] * 2 + ["send_email:bob=ok", "edit_file:x=ok"], "read_file:y"),
    ],
)
def test_a_call_that_may_be_made_is_not_held_against_anybody(words: list[str], then: str) -> None:
    assert asked(*words, then=then) is None


def test_a_standing_verdict_is_the_answer_where_nothing_speaks_against_the_call_itself() -> None:
    verdict = asked(*[f"search:{letter * 2}=nothing" for letter in "abcdef"], then="read_file:new place")
    assert verdict is not None
    assert verdict.pattern is Pattern.NO_PROGRESS


def test_limits_are_looked_at_before_the_call() -> None:
    policy = Policy(max_tool_calls=2)
    assert asked("search:a=x", then="search:b", policy=policy) is None
    verdict = asked("search:a=x", "search:b=y", then="search:c", policy=policy)
    assert verdict is not None
    assert verdict.stop_reason is StopReason.MAX_TOOL_CALLS
    steps = Policy(max_steps=2)
    assert asked("*", "search:a=x", then="*", policy=steps) is None
    over = asked("*", "search:a=x", "*", then="*", policy=steps)
    assert over is not None
    assert over.stop_reason is StopReason.MAX_STEPS


@given(st.lists(WORDS, max_size=14), st.lists(WORDS, min_size=1, max_size=4))
def test_asking_changes_nothing(words: list[str], questions: list[str]) -> None:
    calls = [call(said, number) for number, said in enumerate(words)]
    asked_often, never_asked = RunState(Policy()), RunState(Policy())
    for made in calls:
        for question in questions:
            asked_often.ask(call(question, 99))
        assert asked_often.observe(made) == never_asked.observe(made)


@given(st.lists(WORDS, max_size=10), st.lists(WORDS, max_size=10))
def test_a_copy_goes_on_as_the_original_would(before: list[str], after: list[str]) -> None:
    original = RunState(Policy())
    for number, said in enumerate(before):
        original.observe(call(said, number))
    twin, third = original.copy(), original.copy()
    later = [call(said, len(before) + number) for number, said in enumerate(after)]
    outcomes = [original.observe(each) for each in later]
    # What the original went through meanwhile left its copies as they were.
    assert [twin.observe(each) for each in later] == outcomes == [third.observe(each) for each in later]
