from __future__ import annotations

import gc
import random
import sys
from types import FunctionType, ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.evidence import make_call
from otel_processor.detection.run_state import RunState
from otel_processor.model import Action, Call, Effect, Pattern, Reading, Role, StopReason
from otel_processor.policy import Policy
from tests.unit.detection.small_runs import alarms, call, progress, run, verdicts

HARD, FLAT = Pattern.HARD_LOOP, Pattern.NO_PROGRESS

# Runs that go in circles and runs that do not.


def test_three_equal_calls_with_nothing_new_are_a_hard_loop_told_once() -> None:
    outcomes = run(*["search:cats=nothing"] * 4)
    assert progress(outcomes) == "+---"
    assert verdicts(outcomes) == [(2, "hard_loop stop")]
    assert [outcome.repeats for outcome in outcomes] == [1, 2, 3, 4]
    assert [outcome.flat_steps for outcome in outcomes] == [0, 1, 2, 3]


def test_the_verdict_carries_its_evidence() -> None:
    (verdict,) = run(*["search:cats=nothing"] * 3)[-1].verdicts
    assert verdict.stop_reason is StopReason.REPEATED_SIGNATURE
    assert verdict.message == "search was called 3 times with the same arguments and nothing new came back"
    assert verdict.evidence == {
        "tool": "search",
        "signature": call("search:cats").signature,
        "repeats": 3,
        "limit": 3,
        "effect": "read",
        "steps": [1, 2, 3],
        "span_ids": ["0000", "0001", "0002"],
    }


def test_flat_steps_are_told_first_as_a_nudge_and_then_once_as_a_stop() -> None:
    outcomes = run("search:a=nothing", *[f"search:b{letter}=nothing" for letter in "cdefghij"])
    assert progress(outcomes) == "+--------"
    assert verdicts(outcomes) == [(4, "no_progress nudge"), (5, "no_progress stop")]
    nudge, stop = outcomes[4].verdicts[0], outcomes[5].verdicts[0]
    assert (nudge.severity, stop.severity) == ("warning", "critical")
    assert stop.stop_reason is StopReason.NO_PROGRESS
    assert stop.message == "5 steps in a row brought nothing new (tools called: search)"
    assert stop.evidence == {
        "flat_steps": 5,
        "flat_calls": 5,
        "equal_answers": 0,
        "steps": [2, 3, 4, 5, 6],
        "span_ids": ["0001", "0002", "0003", "0004", "0005"],
        "tools": ["search"],
    }


def test_a_poll_whose_result_moves_is_work() -> None:
    outcomes = run(*[f"job_status:7=running, {number} of 40 files done" for number in range(40)])
    assert progress(outcomes) == "+" * 40
    assert not verdicts(outcomes)


def test_a_poll_whose_result_differs_only_in_its_time_is_a_loop() -> None:
    outcomes = run(*[f"job_status:7=running at 2026-11-30T12:00:{number:02}Z" for number in range(8)])
    assert progress(outcomes) == "+????---"
    assert alarms(outcomes, HARD) == [5]
    assert alarms(outcomes, FLAT) == []


def test_a_poll_whose_results_are_not_recorded_is_let_off() -> None:
    assert not verdicts(run(*["job_status:7"] * 20))


@pytest.mark.parametrize("edit", ["edit_file:change {}=ok", "bash:sed {}=", "bash:sed {}"])
@pytest.mark.parametrize("test", ["run_tests:all=2 failed", "bash:pytest=2 failed", "run_tests:all"])
def test_edit_and_test_in_turn_is_work(edit: str, test: str) -> None:
    words = [word for number in range(12) for word in (edit.format(number), test)]
    assert not verdicts(run(*words))


def test_tests_again_and_again_without_an_edit_are_a_loop() -> None:
    assert alarms(run("edit_file:change=ok", *["run_tests:all=2 failed"] * 4), HARD) == [3]


def test_reading_the_same_file_after_each_edit_is_no_repeat() -> None:
    outcomes = run(*[word for number in range(8) for word in (f"edit_file:change {number}=ok", "read_file:a=unchanged text")])
    assert alarms(outcomes, HARD) == []
    assert outcomes[-1].repeats == 1


def test_two_calls_in_turn_without_news_are_a_loop() -> None:
    outcomes = run(*["search:a=none", "search:b=none"] * 4)
    assert progress(outcomes) == "+-------"
    assert alarms(outcomes, Pattern.CYCLE) == [5]
    assert alarms(outcomes, HARD) == []
    assert alarms(outcomes, FLAT) == [4, 5]


def test_two_calls_in_turn_that_bring_news_are_none() -> None:
    outcomes = run(
        *[word for fact in "one two three four five six".split() for word in (f"search:a={fact}", f"search:b=more {fact}")]
    )
    assert verdicts(outcomes) == []


def test_rewording_a_search_without_new_hits_is_flat() -> None:
    assert progress(run("search:cats=tom and felix", "search:the cats=felix and tom", "search:all cats=tom")) == "+--"


# Writes.


def test_a_write_is_told_at_its_second_time() -> None:
    outcomes = run(*["send_email:bob=ok"] * 2)
    assert verdicts(outcomes) == [(1, "hard_loop stop")]


def test_a_write_of_something_new_is_progress_whatever_it_answers() -> None:
    outcomes = run(*[f"send_email:user {number}=ok" for number in range(8)])
    assert progress(outcomes) == "+" * 8
    assert not verdicts(outcomes)


def test_a_write_that_failed_for_a_moment_and_then_went_through_is_progress() -> None:
    outcomes = run("send_email:ann=ok", "send_email:bob!HTTP 503", "send_email:bob=ok")
    assert progress(outcomes) == "+?+"
    assert not verdicts(outcomes)


def test_a_write_that_was_corrected_after_its_failure_is_progress() -> None:
    outcomes = run("send_email:ann=ok", "send_email:bob!invalid value", "send_email:bob=ok", "send_email:bob=ok")
    assert progress(outcomes) == "+?+-"
    assert alarms(outcomes, HARD) == [3]


# Failures.


def test_transient_failures_are_tolerated_up_to_five_and_then_all_count() -> None:
    outcomes = run(*["search:a!HTTP 503"] * 10)
    assert progress(outcomes) == "?????-----"
    assert [outcome.repeats for outcome in outcomes] == [1, 1, 1, 1, 1, 6, 7, 8, 9, 10]
    assert [outcome.flat_steps for outcome in outcomes] == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]
    assert alarms(outcomes, HARD) == []
    assert alarms(outcomes, Pattern.RETRY_STORM) == [5]
    assert alarms(outcomes, FLAT) == [8, 9]


def test_a_call_that_succeeds_at_last_forgives_its_failures() -> None:
    outcomes = run("search:b=found x", *["search:a!HTTP 503"] * 5, "search:a=found x", *["search:a!HTTP 503"] * 5)
    assert progress(outcomes) == "+???????????"
    assert outcomes[6].repeats == 1
    assert not verdicts(outcomes)


def test_a_success_that_says_429_inside_is_tolerated_like_a_failure() -> None:
    state = RunState(Policy())
    for number in range(9):
        reading = Reading(role=Role.TOOL, tool="add_row", arguments={"a": 1}, result={"status": 429, "attempt": number})
        made = make_call(
            reading, trace_id="t", span_id=str(number), agent="", start_ns=number, end_ns=number + 1, policy=Policy()
        )
        outcome = state.observe(made)
        assert outcome.progress is (None if number < 5 else False)


def test_how_many_failures_are_tolerated_is_policy() -> None:
    assert progress(run(*["search:a!timeout"] * 3, policy=Policy(transient_tolerance=0))) == "?--"
    assert progress(run(*["search:a!timeout"] * 3, policy=Policy(transient_tolerance=2))) == "??-"


def test_permanent_failures_count_at_once() -> None:
    outcomes = run(*["get_order:1!404 not found"] * 3)
    assert progress(outcomes) == "?--"
    assert verdicts(outcomes) == [(1, "retry_storm nudge"), (2, "retry_storm stop")]
    nudge, stop = outcomes[1].verdicts[0], outcomes[2].verdicts[0]
    assert (nudge.stop_reason, stop.stop_reason) == (None, StopReason.RETRY_STORM)
    assert stop.message == "get_order was called 3 times with the same arguments and failed each time"


# What is not known.


def test_an_unknown_result_is_neither_flat_nor_a_reset() -> None:
    outcomes = run("search:a=x", "search:b=x", "search:c", "search:d=x")
    assert progress(outcomes) == "+-?-"
    assert [outcome.flat_steps for outcome in outcomes] == [0, 1, 1, 2]


def test_calls_with_unknown_arguments_do_not_repeat_each_other() -> None:
    outcomes = run(*["search=nothing"] * 3)
    assert [outcome.repeats for outcome in outcomes] == [None, None, None]
    assert alarms(outcomes, HARD) == []


# What the agent declares.


def test_declared_progress_wins_both_ways() -> None:
    assert progress(run("search:a=none", "search:a=none+", "search:a!HTTP 404+", "search:a!HTTP 503+")) == "++++"
    assert progress(run("search:a=found x-", "send_email:bob=ok-", "search:a!HTTP 503-")) == "---"
    assert not verdicts(run(*["search:a=none+"] * 10))
    assert alarms(run(*[f"search:{fact}=found {fact}-" for fact in "abcdef"]), FLAT) == [3, 4]


# Steps.


def test_a_model_call_begins_a_step() -> None:
    outcomes = run("*", "search:a=x", "search:b=y", "*", "search:c=z")
    assert [outcome.step for outcome in outcomes] == [1, 1, 1, 2, 2]
    assert progress(outcomes) == "?++?+"


def test_without_model_calls_each_tool_call_is_a_step() -> None:
    assert [outcome.step for outcome in run("search:a=x", "search:b=y", "search:c=z")] == [1, 2, 3]


def test_flat_calls_in_parallel_are_one_flat_step() -> None:
    outcomes = run("*", "search:a=x", "*", "search:b=x", "search:c=x", "search:d=x", "search:e=x")
    assert progress(outcomes) == "?+?----"
    assert [outcome.flat_steps for outcome in outcomes] == [0, 0, 0, 1, 1, 1, 1]


def test_a_step_in_which_one_call_moved_is_not_flat() -> None:
    outcomes = run("*", "search:a=x", "*", "search:b=news", "search:c=x", "*", "search:d=x")
    assert [outcome.flat_steps for outcome in outcomes] == [0, 0, 0, 0, 0, 0, 1]
    outcomes = run("*", "search:a=x", "*", "search:c=x", "search:b=news")
    assert [outcome.flat_steps for outcome in outcomes] == [0, 0, 0, 1, 0]


# Agents.


def test_two_agents_do_not_repeat_each_other() -> None:
    outcomes = run("ann/search:a=x", "bob/search:a=x", "cid/search:a=x", "dan/search:a=x")
    assert progress(outcomes) == "++++"
    assert [outcome.repeats for outcome in outcomes] == [1, 1, 1, 1]


def test_what_one_agent_does_leaves_the_streak_of_another() -> None:
    outcomes = run("ann/search:a=x", "ann/search:b=x", "bob/search:c=y", "ann/search:d=x")
    assert [outcome.flat_steps for outcome in outcomes] == [0, 1, 0, 2]


def test_an_agent_keeps_its_counters_when_its_name_becomes_known() -> None:
    state = RunState(Policy())
    for number in range(3):
        state.observe(call("search:a=x", number))
    state.rename_agent("", "ann")
    outcome = state.observe(call("ann/search:a=x", 3))
    assert (outcome.repeats, outcome.flat_steps, outcome.verdicts) == (4, 3, ())
    assert state.observe(call("ann/search:b=news", 4)).resolved == (HARD,)


# Verdicts that stand, are over, and come back.


def test_progress_resolves_what_is_open_and_it_can_be_told_again() -> None:
    outcomes = run(*["search:a=x"] * 5, "search:b=news", *["search:a=x"] * 3)
    assert outcomes[5].resolved == (HARD, FLAT)
    assert alarms(outcomes, HARD) == [2, 6]
    assert [outcome.resolved for outcome in outcomes if outcome is not outcomes[5]] == [()] * 8


def test_the_progress_of_another_agent_resolves_nothing() -> None:
    outcomes = run(*["ann/search:a=x"] * 3, "bob/search:a=news")
    assert outcomes[-1].resolved == ()
    assert outcomes[-1].standing is not None


def test_the_gravest_open_verdict_stands_until_it_is_over() -> None:
    outcomes = run("search:a=x", *[f"search:b{letter}=x" for letter in "cdefg"], "*", "search:z=news", "search:z=news")
    stands = [outcome.standing.action if outcome.standing else None for outcome in outcomes]
    assert stands == [None, None, None, None, Action.NUDGE, Action.STOP, Action.STOP, None, None]


def test_thresholds_are_policy() -> None:
    policy = Policy(hard_loop_repeats=5, no_progress_alert_steps=2, no_progress_stop_steps=3, effects={"look": "write"})
    assert verdicts(run(*["search:a=x"] * 6, policy=policy)) == [
        (2, "no_progress nudge"),
        (3, "no_progress stop"),
        (4, "hard_loop stop"),
    ]
    assert alarms(run(*["look:a=x"] * 3, policy=policy), HARD) == [1]


def test_a_changed_result_of_the_same_call_moves_from_fifty_new_characters() -> None:
    background = " ".join(f"word{number}" for number in range(100))
    for size, expected in ((50, "+?"), (51, "++")):
        assert progress(run(f"search:a={background}", f"search:a={background} {'x' * size}")) == expected


@pytest.mark.parametrize(
    ("again", "too_few"),
    [("orders july", 9), ("weather in paris", 2), ("berlin orders of july", 29), ("july, the orders", 89)],
    ids=["the same call: a tenth", "another question: three hundredths", "a word more: a quarter", "the same words: half"],
)
def test_how_many_of_the_words_of_an_answer_must_be_new(again: str, too_few: int) -> None:
    known = " ".join(f"word{letter}{other}" for letter in "abcdefghi" for other in "klmnopqrst")
    for new, is_new in ((too_few, False), (too_few + 1, True)):
        fresh = " ".join(f"n{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(new))
        outcome = run(f"search:orders july={known}", f"search:{again}={known} {fresh}", policy=Policy(min_changed_chars=10_000))[
            1
        ]
        assert (outcome.progress is True) is is_new


# Any run at all.

WORDS = st.lists(
    st.sampled_from(
        [
            "*",
            "search:a=x",
            "search:b=x",
            "search:c=y z",
            "search:a",
            "search=x",
            "job_status:1=running",
            "send_email:bob=ok",
            "send_email:ann=ok",
            "send_email:bob!HTTP 503",
            "bash:ls=a b",
            "bash:ls!exit 1",
            "search:a!HTTP 404",
            "search:a=x+",
            "search:d=new-",
            "bob/search:a=x",
            "bob/*",
            "bob/send_email:bob=ok",
        ]
    ),
    max_size=40,
)


@given(WORDS, st.text(st.sampled_from("0123456789abcdef"), min_size=1, max_size=8))
def test_renaming_ids_changes_nothing(words: list[str], prefix: str) -> None:
    for plain, renamed in zip(run(*words), run(*words, prefix=prefix), strict=True):
        assert plain._replace(verdicts=(), standing=None) == renamed._replace(verdicts=(), standing=None)
        assert [(v.pattern, v.action, v.message) for v in plain.verdicts] == [
            (v.pattern, v.action, v.message) for v in renamed.verdicts
        ]


@given(WORDS)
def test_one_novel_step_resets_the_streak_and_resolves_all_of_its_agent(words: list[str]) -> None:
    words = [word for word in words if not word.startswith("bob/")]
    outcome = run(*words, "search:novel=treasure island")[-1]
    assert outcome.progress is True
    assert (outcome.flat_steps, outcome.standing, outcome.verdicts) == (0, None, ())


@given(WORDS)
def test_what_every_outcome_promises(words: list[str]) -> None:
    outcomes = run(*words)
    standing: dict[Pattern, Action] = {}
    for said, outcome in zip(words, outcomes, strict=True):
        assert outcome.step >= 1
        assert outcome.progress is None or "*" not in said
        assert outcome.repeats is None or outcome.repeats >= 1
        if outcome.progress is True:
            assert outcome.flat_steps == 0
            assert not outcome.verdicts
        for pattern in outcome.resolved:
            assert standing.pop(pattern)
        for verdict in outcome.verdicts:
            assert standing.get(verdict.pattern) in (None, Action.NUDGE), "told twice"
            assert verdict.action is not standing.get(verdict.pattern), "told twice"
            standing[verdict.pattern] = verdict.action
        assert (outcome.standing is None) == (not standing)
        if outcome.standing is not None:
            assert (outcome.standing.action is Action.STOP) == (Action.STOP in standing.values())


ANY_TEXT = st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C", "Cs"]))
ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
ANY_READING = st.builds(
    Reading,
    role=st.sampled_from([Role.TOOL, Role.TOOL, Role.MODEL]),
    tool=st.none() | ANY_TEXT,
    arguments=ANY_VALUE,
    result=ANY_VALUE,
    is_error=st.booleans(),
    error_type=st.none() | ANY_TEXT,
    error_message=st.none() | ANY_TEXT,
    progress_declared=st.none() | st.booleans(),
)


@given(st.lists(st.tuples(ANY_READING, ANY_TEXT), max_size=12))
def test_nothing_that_a_span_may_say_raises(said: list[tuple[Reading, str]]) -> None:
    state = RunState(Policy())
    for number, (reading, agent) in enumerate(said):
        made = make_call(reading, trace_id="t", span_id=str(number), agent=agent, start_ns=number, end_ns=number, policy=Policy())
        state.observe(made)
        state.observe(made)


def _random_call(number: int, choice: random.Random, vocabulary: list[str]) -> Call:
    reading = Reading(
        role=Role.TOOL if choice.random() < 0.9 else Role.MODEL,
        tool=choice.choice(["search", "job_status", "send_email", "bash"]),
        arguments={"q": choice.randrange(30_000)},
        result=" ".join(choice.choices(vocabulary, k=choice.choice([1, 5, 40]))) if choice.random() < 0.8 else "none",
        is_error=choice.random() < 0.1,
        error_message="HTTP 503",
    )
    return make_call(
        reading, trace_id="t", span_id=f"{number:016x}", agent="", start_ns=number, end_ns=number + 1, policy=Policy()
    )


def _bytes_of(owner: object) -> int:
    """Roughly the memory that an object and all that it holds take."""
    seen: dict[int, object] = {}
    waiting = [owner]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, type | ModuleType | FunctionType):
            continue
        seen[id(item)] = item
        waiting.extend(gc.get_referents(item))
    return sum(map(sys.getsizeof, seen.values()))


def test_what_a_run_remembers_has_a_bound() -> None:
    choice = random.Random(1)
    vocabulary = [f"{number:x}{choice.random()}"[:8] for number in range(100_000)]
    state = RunState(Policy())
    for number in range(20_000):
        state.observe(_random_call(number, choice, vocabulary))
    assert _bytes_of(state) < 2_000_000


def test_the_number_of_agents_that_a_run_remembers_has_a_bound() -> None:
    state = RunState(Policy())
    for number in range(500):
        assert state.observe(call("search:a=x", number)._replace(agent=f"agent {number}")).repeats == 1
    assert len(state._agents) == 64
    assert state.observe(call("search:a=x")._replace(agent="agent 499")).repeats == 2
    assert state.observe(call("search:a=x")._replace(agent="agent 0")).repeats == 1


def test_the_effect_of_a_call_comes_from_its_name_or_the_policy() -> None:
    assert call("send_email:a").effect is Effect.WRITE
    assert call("send_email:a", policy=Policy(effects={"send_email": "poll"})).effect is Effect.POLL
    assert call("*").effect is None


def test_a_status_that_moves_among_constant_fields_is_work() -> None:
    constant = " ".join(f"field{number}: value{number}" for number in range(30))
    outcomes = run(*(f"get_job_status:7={constant} percent: {share}" for share in range(0, 100, 10)))
    assert all(outcome.progress for outcome in outcomes)


def test_a_status_that_stands_still_is_let_off_a_few_times() -> None:
    outcomes = run(*["get_job_status:7=queued"] * 5, "get_job_status:7=running", "get_job_status:7=done")
    assert [verdict for outcome in outcomes for verdict in outcome.verdicts] == []


def test_a_status_that_never_moves_is_a_loop_in_the_end() -> None:
    outcomes = run(*["get_job_status:7=queued"] * 8)
    assert [str(verdict.pattern) for outcome in outcomes for verdict in outcome.verdicts] == ["hard_loop"]


def test_what_the_agent_calls_no_progress_does_not_start_repeats_anew() -> None:
    """A refused call ends with the guard's own message, which reads like an answer that moved."""
    outcomes = run(*[f"search:cats=not run, asked {number} times-" for number in ("one", "two", "three", "four")])
    assert [outcome.repeats for outcome in outcomes] == [1, 2, 3, 4]
    assert [outcome.progress for outcome in outcomes] == [False] * 4


def test_a_look_up_of_one_thing_after_the_other_may_answer_the_same() -> None:
    outcomes = run(*[f"get_weather:{city}=sunny" for city in "lyon nice paris lille brest dijon metz tours".split()])
    assert progress(outcomes) == "+???????"
    assert not verdicts(outcomes)


def test_a_sentence_that_is_the_same_for_each_thing_is_a_message() -> None:
    outcomes = run(*[f"read_page:{name}=Please sign in to read on." for name in "lyon nice paris lille brest dijon".split()])
    assert progress(outcomes) == "+-----"


def test_there_being_nothing_is_no_answer() -> None:
    outcomes = run(*[f"get_invoice:{name}=not found" for name in "lyon nice paris lille brest dijon metz tours".split()])
    assert progress(outcomes) == "+-------"
    assert alarms(outcomes, FLAT) == [4, 5]


def test_a_bug_in_one_pattern_costs_what_it_would_have_said_and_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("otel_processor.detection.verdicts.find_soft_loop", broken)
    outcomes = run(*["search:a=none"] * 3, "search:b=found another thing", "search:c=none")
    assert progress(outcomes) == "+--+-"
    assert alarms(outcomes, HARD) == [2]
    assert [outcome.repeats for outcome in outcomes] == [1, 2, 3, 1, 1]
