"""The guard in an agent's own loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor import bug_reports
from otel_processor.detection.run_state import RunState
from otel_processor.errors import ConfigError, LoopDetected
from otel_processor.guard import LoopGuard
from otel_processor.guard.loop_guard import active_guard
from otel_processor.model import Action, Alert, Mode, StopReason
from otel_processor.policy import Policy
from tests.unit.guard.scripts import CATS, drive, make_guard

GO, NUDGE, STOP = "continue", "nudge", "stop"


def test_a_loop_is_nudged_twice_and_then_stopped_for_good() -> None:
    guard = make_guard()
    assert drive(guard, *[CATS] * 5) == [GO, GO, NUDGE, NUDGE, STOP]
    assert guard.stopped
    assert drive(guard, "search:dogs=a dog", "write:note=done") == [STOP, STOP]
    with pytest.raises(LoopDetected, match="loop_detected:repeated_tool_signature: search was called") as raised:
        guard.raise_if_stopped()
    assert raised.value.stop_reason == "loop_detected:repeated_tool_signature"
    assert raised.value.verdict.action == STOP


@pytest.mark.parametrize(("allowed", "said"), [(0, [STOP]), (1, [NUDGE, STOP]), (3, [NUDGE] * 3 + [STOP])])
def test_the_policy_says_how_many_failures_are_waited_for(allowed: int, said: list[str]) -> None:
    guard = make_guard(policy=Policy(nudges_before_stop=allowed))
    assert drive(guard, *[CATS] * (2 + len(said))) == [GO, GO, *said]


def test_another_call_is_let_through_after_a_nudge_and_progress_leads_back_to_the_ground() -> None:
    guard = make_guard()
    assert drive(guard, *[CATS] * 3, "search:dogs=a dog called Rex was seen in Lisbon") == [GO, GO, NUDGE, GO]
    assert drive(guard, *[CATS] * 3) == [NUDGE, NUDGE, STOP]


def test_calls_that_bring_nothing_after_a_nudge_are_failures() -> None:
    guard = make_guard()
    assert drive(guard, *[CATS] * 3) == [GO, GO, NUDGE]
    assert drive(guard, "search:dogs=nothing", "search:birds=nothing", "search:fish=a fish") == [GO, GO, STOP]
    assert guard.stopped


def test_flat_steps_are_nudged_once_and_the_next_calls_may_show_a_change() -> None:
    """What stands against the run is told in place of one call; other calls are let through then."""
    policy = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
    guard = make_guard(policy=policy)
    flat = [f"search:{number}=nothing" for number in range(4)]
    assert drive(guard, *flat, "search:b=nothing", "search:c=a cat in Lisbon") == [GO] * 4 + [NUDGE, GO]
    guard = make_guard(policy=policy)
    assert drive(guard, *flat, *[f"search:b{n}=nothing" for n in range(4)]) == [GO] * 4 + [NUDGE, GO, GO, STOP]


def test_what_was_told_after_a_call_is_not_told_again_before_the_next() -> None:
    policy = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
    guard = make_guard(policy=policy)
    drive(guard, *[f"search:{number}=nothing" for number in range(3)])
    guard.before_tool("search", {"q": 3})
    answer = guard.after_tool("nothing")
    assert answer.action is Action.NUDGE
    assert guard.before_tool("search", {"q": 4}).action is Action.NUDGE
    guard.told(answer)
    assert guard.before_tool("search", {"q": 4}).action is Action.CONTINUE


def test_what_is_told_is_told_to_the_agent_that_was_answered() -> None:
    policy = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
    guard = make_guard(policy=policy)
    for number in range(4):
        answer = guard.after_tool("nothing", call=guard.before_tool("search", {"q": number}, agent="ann"))
    assert (answer.action, answer.agent) == (Action.NUDGE, "ann")
    guard.told(answer)
    assert guard.before_tool("search", {"q": 4}, agent="ann").action is Action.CONTINUE


def test_observing_never_advises_the_agent_and_says_what_it_would_do() -> None:
    guard = make_guard("observe")
    answers = []
    for _ in range(8):
        answers.append(guard.before_tool("search", {"q": "cats"}))
        assert guard.after_tool("nothing").action is Action.CONTINUE
    assert {answer.action for answer in answers} == {Action.CONTINUE}
    assert [str(answer.advised) for answer in answers] == [GO, GO, NUDGE, NUDGE] + [STOP] * 4
    assert {(answer.message, answer.stop_reason) for answer in answers} == {("", None)}
    assert "make no more tool calls" in answers[-1].advised_message
    assert answers[3].finding is not None
    assert answers[3].finding.stop_reason == "loop_detected:repeated_tool_signature"
    assert not guard.stopped
    guard.raise_if_stopped()
    guard.before_tool("search", {"q": "dogs"})
    guard.after_tool("a dog called Rex was seen in Lisbon")
    assert guard.before_tool("search", {"q": "birds"}).advised is Action.CONTINUE
    guard.finish()
    report = guard.report()
    assert (report.stop_reason, report.flagged_reason) == ("completed", "loop_detected:repeated_tool_signature")


def test_nudging_never_stops() -> None:
    guard = make_guard("nudge")
    assert drive(guard, *[CATS] * 9) == [GO, GO] + [NUDGE] * 7
    assert not guard.stopped
    assert drive(guard, "search:dogs=a dog called Rex was seen in Lisbon") == [GO]
    guard.finish()
    assert guard.report().stop_reason == "completed"


def test_a_limit_is_told_once_where_nothing_may_be_stopped() -> None:
    guard = make_guard("nudge", Policy(max_tool_calls=2))
    calls = [f"search:{n}=cat number {n}" for n in range(5)]
    assert drive(guard, *calls) == [GO, GO, NUDGE, GO, GO]
    assert drive(make_guard(policy=Policy(max_tool_calls=2)), *calls) == [GO, GO, STOP, STOP, STOP]


@given(
    st.lists(st.sampled_from(["cats", "dogs", "birds"]), max_size=12),
    st.lists(st.sampled_from(["cats", "dogs", "birds"]), max_size=8),
    st.sampled_from(list(Mode)),
)
def test_asking_changes_nothing(made: list[str], asked: list[str], mode: Mode) -> None:
    """A guard that is asked in between says the same as one that is asked before each call only."""
    plain, curious = make_guard(mode), make_guard(mode)
    for question in made:
        for other in [*asked, *reversed(asked)]:
            curious.before_tool("search", {"q": other}, call_id=f"asked {other}")
        words = f"search:{question}=nothing"
        assert drive(curious, words) == drive(plain, words)
    for guard in (plain, curious):
        for _ in range(2):
            assert guard.before_tool("search", {"q": "cats"}).advised == plain.before_tool("search", {"q": "cats"}).advised


def test_a_call_that_is_asked_about_twice_counts_once() -> None:
    guard = make_guard()
    for _ in range(2):
        first = guard.before_tool("search", {"q": "cats"})
        assert guard.before_tool("search", {"q": "cats"}).call_id == first.call_id
        guard.after_tool("nothing", call=first)
    guard.on_step()
    assert guard.report().tool_calls == 2
    assert guard.before_tool("search", {"q": "cats"}).action is Action.NUDGE


def test_an_agent_that_never_says_what_came_back_is_watched_by_its_steps() -> None:
    guard = make_guard(policy=Policy(nudges_before_stop=0))
    said = []
    for _ in range(4):
        guard.on_step()
        said.append(str(guard.before_tool("search", {"q": "cats"}).action))
    assert said == [GO, GO, STOP, STOP]
    assert guard.report().tool_calls == 2


def test_a_refused_call_counts_as_told_when_the_next_turn_begins() -> None:
    guard = make_guard()
    said = []
    for _ in range(5):
        guard.on_turn(input_tokens=10)
        said.append(str(guard.before_tool("search", {"q": "cats"}).action))
        if said[-1] == GO:
            guard.after_tool("nothing")
    assert said == [GO, GO, NUDGE, NUDGE, STOP]
    guard.finish()
    assert guard.report().stop_reason == "loop_detected:repeated_tool_signature"
    assert guard.report().refused_calls == 3


def test_one_turn_is_one_step_wherever_it_is_told() -> None:
    """`on_turn` belongs to the step that `on_step` began, before or after its calls; without `on_step` it begins one."""
    for order in (["|", "*I look", CATS], ["|", CATS, "*I look"], ["*I look", CATS], ["|", CATS]):
        guard = make_guard("observe")
        drive(guard, *order * 3)
        assert guard.report().steps == 3, order


def test_calls_side_by_side_are_told_apart_by_their_answers_or_ids() -> None:
    guard = make_guard("observe")
    cats = guard.before_tool("search", {"q": "cats"})
    guard.before_tool("search", {"q": "dogs"}, call_id="call-2")
    guard.after_tool("two cats", call=cats)
    guard.after_tool(error="HTTP 404", call="call-2")
    guard.after_tool("what is this", call="call-3")
    attempts = {attempt.arguments: attempt.outcome for attempt in guard.report().attempts}
    assert attempts == {'{"q":"cats"}': "new", '{"q":"dogs"}': "failed: HTTP 404"}


def test_tasks_and_threads_find_their_own_calls() -> None:
    guard = make_guard("observe")
    both = threading.Barrier(2)

    def work(name: str) -> None:
        guard.before_tool("search", {"q": name})
        both.wait()
        guard.after_tool(f"{name} was found")

    async def search(name: str) -> None:
        guard.before_tool("search", {"q": name})
        await asyncio.sleep(0)
        guard.after_tool(f"{name} was found")

    async def gather() -> None:
        await asyncio.gather(search("ants"), search("bees"))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("cats", "dogs")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(gather())
    report = guard.report()
    assert {attempt.arguments for attempt in report.attempts} == {f'{{"q":"{n}"}}' for n in ("ants", "bees", "cats", "dogs")}
    assert {attempt.made for attempt in report.attempts} == {1}
    assert {part.partition(": ")[2] for part in report.partial} == {f"{n} was found" for n in ("ants", "bees", "cats", "dogs")}


def test_many_threads_lose_no_call() -> None:
    guard = make_guard("observe")

    def work(name: int) -> None:
        for number in range(50):
            guard.after_tool(f"{name} {number}", call=guard.before_tool("search", {"q": f"{name} {number}"}))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = guard.report()
    assert report.tool_calls == 400
    assert len(report.attempts) + report.attempts_left_out == 400


def test_agents_of_a_run_have_ladders_of_their_own() -> None:
    guard = make_guard()
    said: dict[str, list[str]] = {"ann": [], "bob": []}
    for turn in range(5):
        for name, result in (("ann", "nothing"), ("bob", f"page {turn} tells of {'abcde'[turn] * 9}")):
            arguments = {"q": "cats"} if name == "ann" else {"page": turn}
            answer = guard.before_tool("search", arguments, agent=name)
            said[name].append(str(answer.action))
            guard.after_tool(result, call=answer) if answer.allows_call else guard.skip_tool(answer)
    assert said["ann"] == [GO, GO, NUDGE, NUDGE, STOP]
    assert said["bob"][:4] == [GO] * 4


def test_marked_progress_goes_before_what_the_guard_would_think() -> None:
    guard = make_guard()
    for number in range(9):
        assert guard.before_tool("run_tests", {"all": True}).action is Action.CONTINUE
        guard.mark_progress(f"tests passed: {number}")
        guard.after_tool("2 failed")
    for number in range(9):
        guard.before_tool("run_tests", {"all": True})
        guard.after_tool("2 failed")
        guard.mark_progress(f"tests passed: {number}")
    assert guard.report().partial[-1] == "tests passed: 8"
    assert guard.report().flagged_reason is None


def test_alerts_are_told_once_for_the_loop_and_once_for_the_end() -> None:
    told: list[Alert] = []
    guard = make_guard(on_alert=told.append, task="find-cats")
    drive(guard, *[CATS] * 7)
    assert [(alert.verdict.severity, alert.task, alert.run_id) for alert in told] == [("critical", "find-cats", guard.run_id)] * 2
    assert told[0].alert_id == told[1].alert_id
    assert told[1].verdict.message.startswith("the guard stopped the run: ")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (None, "completed"),
        (ValueError("x"), "error"),
        (asyncio.CancelledError(), "cancelled"),
        (KeyboardInterrupt(), "cancelled"),
    ],
)
def test_how_the_block_is_left_says_why_the_run_ended(error: BaseException | None, reason: str) -> None:
    guard = make_guard()
    left = contextlib.nullcontext() if error is None else pytest.raises(type(error))
    with left, guard:
        assert guard.report().stop_reason == "running"
        if error is not None:
            raise error
    assert guard.report().stop_reason == reason


def test_the_stop_that_was_answered_is_the_reason_of_the_run() -> None:
    with make_guard(policy=Policy(nudges_before_stop=0)) as guard:
        drive(guard, CATS, CATS)
        assert guard.before_tool("search", {"q": "cats"}).action is Action.STOP
    assert guard.report().stop_reason == "loop_detected:repeated_tool_signature"


def test_what_ends_a_run_is_told_by_the_model_or_the_agent() -> None:
    with make_guard() as cut:
        cut.on_turn("it goes on and on", finish_reason="length")
    assert cut.report().stop_reason is StopReason.MODEL_LENGTH
    with make_guard() as handed:
        handed.hand_over("needs approval")
    assert handed.report().stop_reason is StopReason.HANDED_TO_HUMAN
    assert handed.report().message == "needs approval"
    refused = make_guard()
    refused.finish("refused")
    refused.finish("completed")
    assert refused.report().stop_reason is StopReason.REFUSED


def test_guards_lie_in_one_another_and_know_their_context() -> None:
    async def inside() -> list[LoopGuard | None]:
        async with make_guard() as inner:
            return [active_guard(), inner]

    assert active_guard() is None
    with make_guard() as outer:
        found, inner = asyncio.run(inside())
        assert found is inner
        with make_guard() as second:
            assert active_guard() is second
        assert active_guard() is outer
    assert active_guard() is None


def test_a_wrong_setting_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="mode is 'stop'; use one of observe, nudge, enforce"):
        LoopGuard(mode="stop")
    with pytest.raises(ConfigError, match="policy is a dict"):
        LoopGuard({})  # type: ignore[arg-type]
    monkeypatch.setenv("OTEL_PROCESSOR_MODE", "loud")
    with pytest.raises(ConfigError, match="OTEL_PROCESSOR_MODE is 'loud'; use one of observe, nudge, enforce"):
        LoopGuard()
    monkeypatch.setenv("OTEL_PROCESSOR_MODE", " Enforce ")
    assert LoopGuard().mode is Mode.ENFORCE
    assert LoopGuard(mode="observe").mode is Mode.OBSERVE


def fail(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("a bug of ours")


@pytest.mark.parametrize("broken", ["ask", "observe", "standing"])
@pytest.mark.parametrize("mode", list(Mode))
def test_a_bug_in_a_detector_costs_an_answer_and_never_the_agent(
    broken: str, mode: Mode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bug_reports, "_reported", {})
    monkeypatch.setattr(RunState, broken, property(fail) if broken == "standing" else fail)
    with caplog.at_level(logging.ERROR), make_guard(mode) as guard:
        for _ in range(6):
            answers = [
                guard.on_step(),
                guard.before_tool("search", {"q": "cats"}),
                guard.after_tool("nothing"),
                guard.on_turn("I look again"),
                guard.on_tool_call("search", {"q": "cats"}),
                guard.on_progress(made_progress=False),
            ]
            assert mode is not Mode.OBSERVE or {answer.action for answer in answers} == {Action.CONTINUE}
            assert guard.run_tool("search", {"q": "cats"}, lambda q: f"{q}!") == "cats!"
            guard.mark_progress("x")
            guard.partial("x")
    assert mode is Mode.ENFORCE or guard.report().stop_reason == "completed"
    assert guard.report().text()
    places = [record.getMessage() for record in caplog.records]
    assert len(places) == len(set(places)) > 0


def test_a_callback_that_raises_is_survived(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bug_reports, "_reported", {})
    assert drive(make_guard(on_alert=fail), *[CATS] * 5) == [GO, GO, NUDGE, NUDGE, STOP]
    assert len(caplog.records) == 1


def test_a_tool_that_runs_in_a_thread_of_its_own_may_say_that_it_got_further() -> None:
    guard = make_guard()
    for _ in range(6):
        answer = guard.before_tool("search", {"q": "cats"})
        assert answer.action is Action.CONTINUE
        thread = threading.Thread(target=guard.mark_progress)
        thread.start()
        thread.join()
        guard.after_tool("nothing", call=answer)
    assert [tried.outcome for tried in guard.report().attempts] == ["new"]


def test_progress_that_is_said_outside_any_call_is_that_of_the_agent_that_asked_last() -> None:
    guard = make_guard()
    for _ in range(6):
        answer = guard.before_tool("search", {"q": "cats"}, agent="ann")
        assert answer.action is Action.CONTINUE
        guard.after_tool("nothing", call=answer)
        guard.mark_progress()
