"""Each preset keeps the word of the recipe that it is named after; the tables say the recipe step by step."""

from __future__ import annotations

import hashlib
import json
from itertools import count
from pathlib import Path

import pytest

from otel_processor.detection.signature import sign
from otel_processor.errors import ConfigError
from otel_processor.guard import LoopGuard
from otel_processor.model import Alert, Mode
from otel_processor.policy import Policy
from otel_processor.policy_file import load_policy, policy_of
from otel_processor.presets import PRESETS

REPEATED = "loop_detected:repeated_tool_signature"
FLAT = "loop_detected:no_progress"


def guard(preset: str, **more: object) -> LoopGuard:
    clock = count(0, 1_000_000)
    return LoopGuard(Policy.preset(preset), mode=Mode.ENFORCE, clock=lambda: next(clock), **more)  # type: ignore[arg-type]


def text(number: int) -> str:
    """A text of about 300 characters that shares no word with that of another number."""
    digests = (hashlib.sha256(f"{number} {word}".encode()).hexdigest()[:9] for word in range(30))
    return " ".join("".join(chr(ord("a") + int(digit, 16)) for digit in digest) for digest in digests)


BOUNDED = {
    "two equal calls pass, the third is stopped": ("aaa", [None, None, REPEATED]),
    "another call between starts the count anew": ("aabaa", [None] * 5),
    "equal calls are counted one after the other": ("aabaaa", [None] * 5 + [REPEATED]),
    "two calls by turns are no repeat": ("abababab", [None] * 8),
    "different calls stop at the ninth": ("abcdefghi", [None] * 8 + ["max_steps_reached"]),
    "repeats count among the eight": ("aabbccddc", [None] * 8 + ["max_steps_reached"]),
}


@pytest.mark.parametrize(("calls", "expected"), BOUNDED.values(), ids=BOUNDED)
def test_bounded_calls(calls: str, expected: list[str | None]) -> None:
    """It is asked before a call is made; what comes back is not looked at, be it new each time."""
    watched, said = guard("bounded_calls"), []
    for number, name in enumerate(calls):
        answer = watched.before_tool("lookup_order", {"order_id": f"demo-{name}"})
        said.append(answer.stop_reason)
        assert answer.action == ("continue" if answer.stop_reason is None else "stop")
        if answer.allows_call:
            watched.after_tool(text(number))
    assert said == expected


def test_the_fingerprint_of_bounded_calls_is_the_signature() -> None:
    arguments = {"order_id": "demo-001"}
    recipe = json.dumps({"name": "lookup_order", "arguments": arguments}, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(recipe.encode()).hexdigest() == sign("lookup_order", arguments)
    assert sign("lookup_order", arguments) == "dd462808b3957b77476e9a1cd85071179ef86b06fc21dfda5a5ad099e4fc8bcf"


def window(steps: str) -> list[str | None]:
    """Drive the window recipe: `a+` is a step that makes the call `a` and gets further, `a-` one that does not, ` ` no call.

    What is returned is the first thing said in each step, up to the step that stops.
    """
    watched, said = guard("no_progress_window"), list[str | None]()
    for name, progress in zip(steps[::2], steps[1::2], strict=True):
        reason = watched.on_step().stop_reason
        if reason is None and name != " ":
            reason = watched.on_tool_call("search", {"q": name}).stop_reason
        if reason is None:
            reason = watched.on_progress(progress == "+").stop_reason
        said.append(reason)
        if reason is not None:
            break
    return said


WINDOW = {
    "twelve steps pass, the thirteenth is one too many": ("a+b+c+d+e+f+g+h+i+j+k+l+m+", [None] * 12 + ["max_steps_reached"]),
    "a signature that is seen for the third time": ("a+b+a+c+a+", [None] * 4 + [REPEATED]),
    "a signature that is seen twice": ("a+b+a+c+", [None] * 4),
    "four steps without progress": ("a-b-c-d-", [None] * 3 + [FLAT]),
    "progress starts the count anew": ("a-b-c-d+e-f-g-h-", [None] * 7 + [FLAT]),
    "steps without a call count as well": (" - - - -", [None] * 3 + [FLAT]),
    "steps without a call count among the twelve": (" +" * 13, [None] * 12 + ["max_steps_reached"]),
}


@pytest.mark.parametrize(("steps", "expected"), WINDOW.values(), ids=WINDOW)
def test_no_progress_window(steps: str, expected: list[str | None]) -> None:
    assert window(steps) == expected


def test_the_window_counts_steps_and_not_calls() -> None:
    watched = guard("no_progress_window")
    for step in range(12):
        assert watched.on_step().stop_reason is None
        for call in range(3):
            assert watched.on_tool_call("search", {"q": f"{step} {call}"}).stop_reason is None
        assert watched.on_progress(True).stop_reason is None
    assert watched.on_step().stop_reason == "max_steps_reached"
    assert watched.report().steps == 13
    assert watched.report().tool_calls == 36


def signals(*calls: tuple[str, str], on_alert: list[Alert] | None = None) -> list[str]:
    """Drive the three signals: (question, answer) of each turn's call; `!` before an answer says that it failed with it."""
    watched = guard("three_signals", goal="find the cat", on_alert=None if on_alert is None else on_alert.append)
    said = []
    for question, result in calls:
        watched.on_step()
        answer = watched.before_tool("search", {"q": question})
        said.append(str(answer.action))
        if answer.allows_call and result.startswith("!"):
            watched.after_tool(error=result[1:])
        elif answer.allows_call:
            watched.after_tool(result)
    return said


GO, NUDGE, STOP = "continue", "nudge", "stop"


def test_three_equal_calls_in_a_row_are_one_too_many() -> None:
    assert signals(("a", text(1)), ("a", text(2)), ("a", text(3))) == [GO, GO, NUDGE]
    assert signals(("a", text(1)), ("a", text(2)), ("b", text(3)), ("a", text(4)), ("a", text(5))) == [GO] * 5


@pytest.mark.parametrize("failure", ["HTTP 429 Too Many Requests", "HTTP 503 Service Unavailable", "the request timed out"])
def test_five_are_let_pass_while_they_fail_for_now(failure: str) -> None:
    assert signals(*[("a", f"!{failure}")] * 6) == [GO] * 5 + [NUDGE]


@pytest.mark.parametrize("failure", ["HTTP 404 Not Found", "HTTP 500 Internal Server Error"])
def test_other_failures_are_not_waited_out(failure: str) -> None:
    assert signals(*[("a", f"!{failure}")] * 3) == [GO, GO, NUDGE]


def test_two_failures_after_the_nudge_end_the_run_for_good_and_somebody_is_told() -> None:
    told: list[Alert] = []
    said = signals(*[("a", "nothing")] * 5, ("b", text(1)), on_alert=told)
    assert said == [GO, GO, NUDGE, NUDGE, STOP, STOP]
    assert [(alert.verdict.pattern, alert.verdict.action) for alert in told] == [("hard_loop", STOP), ("hard_loop", STOP)]
    assert "the guard stopped the run" in told[-1].verdict.message


def test_a_result_that_differs_by_more_than_50_characters_is_productive() -> None:
    """Five turns in a row without one are answered with a change of strategy; what was asked does not matter."""
    assert signals(*[(f"q{turn}", text(turn)) for turn in range(40)]) == [GO] * 40
    barely = [(f"q{turn}", f"{text(0)} {'x' * turn}") for turn in range(8)]
    assert signals(*barely) == [GO] * 6 + [NUDGE, GO]


def test_the_nudge_asks_for_a_summary_and_gives_the_goal() -> None:
    watched = guard("three_signals", goal="find the cat")
    for turn in range(6):
        watched.on_step()
        assert watched.before_tool("search", {"q": turn}).allows_call
        watched.after_tool("nothing")
    message = watched.before_tool("search", {"q": "another"}).message
    assert "Summarise what you know" in message
    assert "change your strategy" in message
    assert "find the cat" in message


def test_the_nudge_gives_the_error() -> None:
    watched = guard("three_signals", goal="find the cat")
    for _ in range(2):
        watched.before_tool("search", {"q": "a"})
        watched.after_tool(error=ValueError("no such index: pets"))
    answer = watched.before_tool("search", {"q": "a"})
    assert answer.action == NUDGE
    assert "ValueError: no such index: pets" in answer.message
    assert "find the cat" in answer.message


def test_rising_doubt_asks_for_a_shorter_context_and_stops_nothing() -> None:
    watched = guard("three_signals")
    turns = [
        "The index holds 40 cats and the list of their owners is complete.",
        "The index holds 40 cats; maybe the list of their owners is complete too.",
        "Perhaps the index holds 40 cats, but I am not sure; maybe the list of owners is complete.",
        "I am not sure. Perhaps it might be cats, maybe not; possibly the list could be wrong, I guess, I don't know.",
    ]
    said = []
    for turn, words in enumerate(turns):
        said.append(watched.on_turn(words))
        assert watched.before_tool("search", {"q": turn}).allows_call
        watched.after_tool(text(turn))
    assert [str(answer.action) for answer in said] == [GO, GO, GO, "compress"]
    assert said[-1].stop_reason is None
    assert not watched.stopped


def test_a_preset_is_named_in_a_file_and_its_fields_can_be_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('preset = "bounded_calls"\nmax_steps = 20\n', encoding="utf-8")
    assert load_policy(path) == Policy.preset("bounded_calls", max_steps=20)
    path.write_text('preset = "bounded_cals"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="did you mean bounded_calls"):
        load_policy(path)
    path.write_text("preset = 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="preset is the name"):
        load_policy(path)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_limit_beside_a_preset_is_kept(preset: str) -> None:
    watched = LoopGuard(Policy.preset(preset, max_tool_calls=2), mode=Mode.ENFORCE)
    assert [watched.on_tool_call("search", {"q": number}).stop_reason for number in range(3)] == [
        None,
        None,
        "max_tool_calls_reached",
    ]


def test_a_preset_is_named_in_the_environment_and_a_file_goes_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_PROCESSOR_PRESET", "three_signals")
    assert policy_of(None) == Policy.preset("three_signals")
    assert policy_of(Policy()) == Policy()
    path = tmp_path / "policy.toml"
    monkeypatch.setenv("OTEL_PROCESSOR_POLICY", str(path))
    path.write_text("min_changed_chars = 10\n", encoding="utf-8")
    assert policy_of(None) == Policy.preset("three_signals", min_changed_chars=10)
    path.write_text('preset = "bounded_calls"\n', encoding="utf-8")
    assert policy_of(None) == Policy.preset("bounded_calls")
    monkeypatch.delenv("OTEL_PROCESSOR_POLICY")
    monkeypatch.setenv("OTEL_PROCESSOR_PRESET", "nonsense")
    with pytest.raises(ConfigError, match="OTEL_PROCESSOR_PRESET: there is no preset 'nonsense'; known are bounded_calls"):
        policy_of(None)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_policy_with_a_hash_of_its_own(name: str) -> None:
    assert Policy.preset(name).hash != Policy().hash
