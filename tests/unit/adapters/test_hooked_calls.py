"""What the adapters with hooks do alike."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from otel_processor.adapters.hooked_calls import HookedCalls
from otel_processor.guard import LoopGuard
from otel_processor.model import Action
from otel_processor.policy import Policy
from tests.unit.guard.scripts import make_guard

FLAT = Policy(patterns=frozenset({"no_progress"}), no_progress_alert_steps=3, no_progress_stop_steps=3)
DOUBTS = (
    "The office keeps its letters in two cabinets, and the second one is sorted by year.",
    "The letter is in the first cabinet. Perhaps somebody put it beside the others of that year.",
    "It is not there. Maybe the letter was never filed, or it might be in the other cabinet.",
    "I'm not sure where to look. It could be in the second cabinet, I can't tell, perhaps it is in the first after all.",
)


def call(calls: HookedCalls, number: int, agent: str | None = None) -> tuple[Action, str]:
    """Make a call where it is allowed; return what was answered before it and what is to be said after it."""
    answer = calls.ask("search", {"q": number}, f"call {number}", agent)
    return answer.action, calls.came_back(f"call {number}", "nothing") if answer.allows_call else ""


def test_what_is_found_after_a_call_is_said_with_its_result_and_no_call_is_refused_for_it() -> None:
    calls = HookedCalls(make_guard(policy=FLAT))
    said = [call(calls, number) for number in range(5)]
    assert [action for action, _ in said] == [Action.CONTINUE] * 5
    assert [bool(text) for _, text in said] == [False] * 3 + [True, False]
    assert "change your strategy" in said[3][1]


def test_rising_doubt_is_said_with_the_result_of_the_call_that_follows() -> None:
    calls = HookedCalls(make_guard())
    for text in DOUBTS:
        calls.end_turn(lambda text=text: {"text": text})  # type: ignore[misc]
    action, said = call(calls, 1)
    assert action is Action.COMPRESS
    assert "Summarise the conversation" in said
    assert call(calls, 2) == (Action.CONTINUE, "")


def test_the_last_words_are_the_report_and_only_of_a_stopped_run() -> None:
    guard = make_guard(policy=Policy(max_steps=1), goal="find it")
    calls = HookedCalls(guard)
    assert calls.begin_step() is None
    last_words = calls.begin_step()
    assert last_words is not None
    assert last_words.startswith("The run was stopped: max_steps_reached.")
    assert "Goal: find it" in last_words
    assert calls.begin_step() == calls.last_words() == last_words
    assert guard.report().steps == 2


def test_agents_are_told_apart_under_a_guard_of_ones_own() -> None:
    calls = HookedCalls(make_guard(policy=FLAT))
    said = [call(calls, number, agent)[1] for number in range(3) for agent in ("ann", "bob")]
    assert not any(said)
    assert call(calls, 3, "ann")[1]


def test_a_turn_that_cannot_be_read_counts_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> NoReturn:
        raise KeyError("usage")

    guard = make_guard()
    HookedCalls(guard).end_turn(fail)
    assert guard.report().steps == 1


def test_without_a_guard_around_it_everything_is_let_be() -> None:
    calls = HookedCalls(None)
    assert [call(calls, 1) for _ in range(9)] == [(Action.CONTINUE, "")] * 9
    assert calls.begin_step() is None


def test_a_twin_for_another_thread_is_under_the_same_guard() -> None:
    with LoopGuard(mode="observe") as guard:
        twin = HookedCalls(None).pinned()
    assert twin.guard is guard


def test_a_report_that_fails_costs_its_text_and_not_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> NoReturn:
        raise RuntimeError("a bug of ours")

    guard = make_guard(policy=Policy(max_steps=1))
    monkeypatch.setattr(guard, "report", fail)
    calls = HookedCalls(guard)
    calls.begin_step()
    assert str(calls.begin_step()).startswith("max_steps_reached: ")


def test_a_bug_in_the_guard_itself_costs_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError("a bug of ours")

    guard = make_guard()
    for method in ("on_step", "before_tool", "after_tool", "on_turn", "raise_if_stopped"):
        monkeypatch.setattr(guard, method, fail)
    calls = HookedCalls(guard)
    assert calls.begin_step() is calls.last_words() is None
    assert call(calls, 1) == (Action.CONTINUE, "")
    calls.end_turn(dict)
