"""What differs between two calls, or between two answers: noise that hides a loop, or the very thing that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from otel_processor.detection.evidence import make_call
from otel_processor.detection.run_state import RunState
from otel_processor.model import CallOutcome, Pattern, Reading, Role
from otel_processor.policy import Policy
from tests.unit.detection.small_runs import alarms, progress, verdicts

Said = tuple[str, Any, Any]
"""A tool, its arguments, and what it answered; a failure where that is an exception."""


def run(said: Sequence[Said], policy: Policy | None = None) -> list[CallOutcome]:
    state = RunState(policy or Policy())
    outcomes = []
    for number, (tool, arguments, result) in enumerate(said):
        failed = isinstance(result, Exception)
        reading = Reading(
            role=Role.TOOL,
            tool=tool,
            arguments=arguments,
            result=None if failed else result,
            is_error=failed,
            error_message=str(result) if failed else None,
        )
        made = make_call(
            reading, trace_id="t", span_id=f"{number:04}", agent="", start_ns=number, end_ns=number + 1, policy=policy or Policy()
        )
        outcomes.append(state.observe(made))
    return outcomes


@pytest.mark.parametrize("name", ["_cb", "cache_bust", "attempt", "client_ts", "progressToken"])
def test_an_argument_that_says_nothing_hides_no_repeat(name: str) -> None:
    """Also where the tool may do anything: what differs is no other thing that it did."""
    said = [
        ("run_query", {"statement": "open tickets of today", name: 1000 + number}, "no rows came back") for number in range(6)
    ]
    assert alarms(run(said), Pattern.SOFT_LOOP) == [2]


def test_a_seed_is_part_of_what_is_asked() -> None:
    said = [("run_model", {"name": "forest", "seed": number}, "accuracy 0.81") for number in range(6)]
    assert not alarms(run(said), Pattern.SOFT_LOOP)


@pytest.mark.parametrize(
    "answer",
    [
        "NAME   STATUS    AGE\nweb-0  Pending   {}m\n",
        "NAME   STATUS    AGE\nweb-0  Pending   3m{}s",
        '{{"state": "pending", "polls": {}}}',
        '{{"state": "pending", "requests_remaining": {}}}',
    ],
)
def test_a_status_in_which_only_a_count_or_an_age_moves_stands_still(answer: str) -> None:
    said = [("pod_status", {"pod": "web-0"}, answer.format(10 + number)) for number in range(8)]
    assert alarms(run(said), Pattern.HARD_LOOP) == [5]


@pytest.mark.parametrize("answer", ["rate[{}m] is high", '{{"state": "running", "score": {}}}', "{} of 40 files"])
def test_a_number_that_may_be_the_answer_moves_it(answer: str) -> None:
    said = [("job_status", {"job": 7}, answer.format(10 + number)) for number in range(8)]
    assert not verdicts(run(said))


def test_one_passing_failure_of_a_tool_is_a_storm_whatever_it_is_asked_but_later() -> None:
    said = [("fetch_page", {"url": f"https://example.org/{number}"}, OSError("503 service unavailable")) for number in range(9)]
    assert alarms(run(said), Pattern.RETRY_STORM) == [6]
    patient = Policy(transient_tolerance=7)
    assert alarms(run(said, patient), Pattern.RETRY_STORM) == [8]


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("send_report", {"ok": False, "reason": "the mailbox is full"}),
        ("send_report", "Error: the mailbox is full"),
        ("run_report", "Error: the mailbox is full"),
        ("run_report", "ValueError: the mailbox is full"),
    ],
)
def test_a_failure_that_only_the_answer_tells_is_one(tool: str, answer: Any) -> None:
    said = [(tool, {"text": f"report {number} about {word}"}, answer) for number, word in enumerate("abcdef")]
    assert Pattern.RETRY_STORM in {verdict.pattern for outcome in run(said) for verdict in outcome.verdicts}


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("domain_available", {"ok": False, "reason": "taken"}),
        ("get_page", "Error: 404"),
        ("send_report", {"ok": True}),
        ("run_report", "Errors: none. " * 40),
        ("run_report", "error-free"),
    ],
)
def test_what_was_asked_for_is_no_failure(tool: str, answer: Any) -> None:
    said = [(tool, {"name": f"{word}shop"}, answer) for word in ("anvil", "bellows", "chisel", "drill", "easel", "file")]
    assert not alarms(run(said), Pattern.RETRY_STORM)


def test_notes_to_oneself_hide_no_loop() -> None:
    said: list[Said] = []
    for number in range(4):
        said.append(("grep", {"pattern": "def main", "path": "src"}, "src/app.py:12: def main():"))
        said.append(("TodoWrite", {"todos": [f"look once more, closer this time, {number}"]}, f"saved list {number}"))
    assert alarms(run(said), Pattern.HARD_LOOP)


def test_keeping_notes_beside_work_is_work() -> None:
    said: list[Said] = []
    for number, word in enumerate(("anvil", "bellows", "chisel", "drill", "easel", "file")):
        said.append(("read_file", {"path": f"{word}.py"}, f"{word} {word}ing {word}s about {number} {word}ed things"))
        said.append(("update_plan", {"done": word}, "plan updated"))
    assert not verdicts(run(said))


@pytest.mark.parametrize("answer", ["0", "[]", "", "false", {"in_stock": 0}, "no such contact"])
def test_a_list_of_things_may_have_one_answer(answer: Any) -> None:
    words = ("anvil", "bellows", "chisel", "drill", "easel", "file", "gouge", "hammer")
    outcomes = run([("get_stock", {"article": word}, answer) for word in words])
    assert progress(outcomes)[1:] == "?" * 7
    assert not verdicts(outcomes)


def test_searching_for_more_and_more_of_the_same_is_none() -> None:
    words = ("anvil", "anvil-stand", "anvil-stand-oak", "anvil-oak", "stand-oak", "oak", "stand", "stand-anvil")
    outcomes = run([("get_stock", {"article": word}, "0") for word in words])
    assert alarms(outcomes, Pattern.NO_PROGRESS)


@pytest.mark.parametrize("name", ["issue", "device", "user_id", "accountId", "repo", "phone_number"])
def test_the_same_words_to_one_after_the_other_are_no_copies(name: str) -> None:
    text = "This was closed since nobody has answered for ninety days; open it again where that is wrong."
    said = [("post_comment", {name: f"n{number}", "body": text}, "posted") for number in range(8)]
    assert not alarms(run(said), Pattern.SOFT_LOOP)
    assert alarms(run([(tool, {"body": body["body"]}, answer) for tool, body, answer in said]), Pattern.HARD_LOOP)


@pytest.mark.parametrize(
    "answer", ["2026-11-30T12:00:{:02}Z", "17645{:02}000", "12:00:{:02}", "550e8400-e29b-41d4-a716-4466554400{:02}"]
)
def test_a_time_that_is_all_of_the_answer_may_be_asked_for_a_few_times(answer: str) -> None:
    assert not verdicts(run([("get_time", {}, answer.format(number)) for number in range(10, 15)]))
    assert verdicts(run([("get_time", {}, answer.format(number)) for number in range(10, 30)]))


@pytest.mark.parametrize("answer", ["550e8400-e29b-41d4-a716-4466554400{:02}", "2026-11-30T12:00:{:02}Z"])
def test_an_id_that_a_write_answers_is_a_receipt(answer: str) -> None:
    said = [("create_payment", {"to": "bob", "amount": 12}, answer.format(number)) for number in range(10, 14)]
    assert alarms(run(said), Pattern.HARD_LOOP) == [1]


def test_a_board_that_is_drawn_with_signs_is_seen() -> None:
    boards = ["." * at + "@" + "." * (9 - at) for at in range(9)]
    assert not verdicts(run([("move", {"direction": "right"}, board) for board in boards]))
    assert alarms(run([("move", {"direction": "right"}, boards[0])] * 4), Pattern.HARD_LOOP)


def test_a_value_that_goes_to_and_fro_moves_but_not_for_ever() -> None:
    said = [("get_spread", {"pair": "EURUSD"}, {"pips": 2 + number % 2}) for number in range(16)]
    found = alarms(run(said), Pattern.HARD_LOOP)
    assert found
    assert found[0] > 5


@pytest.mark.parametrize("tool", ["websuche", "检索", "商品検索"])
def test_a_tool_that_searches_in_another_language_reads(tool: str) -> None:
    outcomes = run([(tool, {"query": "open tickets"}, "nothing was found")] * 4)
    assert alarms(outcomes, Pattern.HARD_LOOP) == [2]


def test_what_has_an_id_or_a_path_is_no_note_to_oneself() -> None:
    said: list[Said] = []
    for number in range(5):
        said.append(("update_plan", {"plan_id": f"basic-{number}", "price": number}, "saved"))
        said.append(("validate_catalog", {}, "2 problems"))
    assert not verdicts(run(said))


def test_a_stream_that_is_read_moves_by_its_numbers() -> None:
    assert not verdicts(run([("next_event", {}, {"seq": number, "kind": "click"}) for number in range(12)]))


@pytest.mark.parametrize("name", ["attempt_number", "line_number", "message_id"])
def test_a_number_that_only_counts_makes_no_copy_another(name: str) -> None:
    text = "This was closed since nobody has answered for ninety days; open it again where that is wrong."
    said = [("post_comment", {name: number, "body": text}, "posted") for number in range(8)]
    assert alarms(run(said), Pattern.SOFT_LOOP)


def test_each_host_that_is_down_is_down_for_itself() -> None:
    said = [("check_link", {"url": f"https://{word}.example/x"}, OSError("timed out")) for word in "abcdefgh"]
    assert not alarms(run(said), Pattern.RETRY_STORM)


def test_guessing_is_no_list_for_ever() -> None:
    words = [f"{first}{second}" for first in "abcdef" for second in "uvwxyz"]
    outcomes = run([("get_page", {"title": word}, "not found") for word in words])
    assert alarms(outcomes, Pattern.NO_PROGRESS)
    assert alarms(outcomes, Pattern.NO_PROGRESS)[0] > 20
