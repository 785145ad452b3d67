from __future__ import annotations

from collections.abc import Mapping

from otel_processor.detection.evidence import make_call
from otel_processor.detection.run_state import RunState
from otel_processor.model import CallOutcome, Pattern, Reading, Role, StopReason
from otel_processor.policy import Policy
from tests.unit.detection.small_runs import alarms, run

SOFT = Pattern.SOFT_LOOP


def called(tool: str, *arguments: Mapping[str, object], result: str = "ok", policy: Policy | None = None) -> list[CallOutcome]:
    policy = policy or Policy()
    state = RunState(policy)
    return [
        state.observe(
            make_call(
                Reading(role=Role.TOOL, tool=tool, arguments=dict(each), result=result),
                trace_id="t",
                span_id=f"{number:04}",
                agent="",
                start_ns=number * 10,
                end_ns=number * 10 + 5,
                policy=policy,
            )
        )
        for number, each in enumerate(arguments)
    ]


def test_a_word_more_each_time_without_news_is_told_at_the_fourth() -> None:
    outcomes = run(
        *(f"read_page:opening hours museum{more}=closed" for more in ("", " please", " now", " today please", " again"))
    )
    assert alarms(outcomes, SOFT) == [3]
    verdict = next(verdict for verdict in outcomes[3].verdicts if verdict.pattern is SOFT)
    assert verdict.stop_reason is StopReason.NEAR_REPEAT
    assert verdict.message == "read_page was called 4 times with nearly the same arguments and nothing new came back"
    assert verdict.evidence["asked"][1] == "opening hours museum please"


def test_where_nothing_but_noise_differs_three_are_enough() -> None:
    noisy = [{"q": "invoice 7", "ts": 1_700_000_000 + number} for number in range(4)]
    assert alarms(called("lookup_invoice", *noisy, result="[]"), SOFT) == [2]


def test_another_number_asks_for_something_else() -> None:
    assert alarms(run(*(f"read_page:chapter {number} of the report=empty" for number in range(8))), SOFT) == []


def test_other_calls_that_changed_something_lie_between() -> None:
    words = [
        word
        for number, more in enumerate(("", " please", " now", " today please", " again"))
        for word in (f"read_page:opening hours museum{more}=closed", f"send_email:letter{'x' * number}=ok")
    ]
    assert alarms(run(*words), SOFT) == []


def test_news_are_no_repeat() -> None:
    pages = ("monday", "tuesday friday", "wednesday sunday", "holiday closed", "summer winter")
    words = [f"read_page:opening hours museum{' x' * number}={text}" for number, text in enumerate(pages)]
    assert alarms(run(*words), SOFT) == []


TEXT = "The quick report says that nothing of what was measured differs from last week. " * 2


def test_the_same_text_to_one_place_after_the_other_is_told_at_the_fifth() -> None:
    copies = [{"path": f"out/{name}.md", "content": TEXT} for name in "abcdef"]
    outcomes = called("write_file", *copies)
    assert alarms(outcomes, SOFT) == [4]
    assert outcomes[4].verdicts[0].message == "write_file was called 5 times with the same content each time"


def test_the_same_message_to_one_person_after_the_other_is_a_batch() -> None:
    mails = [{"to": f"{name}@example.com", "subject": "Invoice", "body": TEXT} for name in "abcdefgh"]
    assert alarms(called("send_email", *mails, result="sent"), SOFT) == []
    again = [
        {"to": "a@example.com", "subject": f"Invoice, {word}", "body": TEXT} for word in ("may", "june", "july", "soon", "now")
    ]
    assert alarms(called("send_email", *again, result="sent"), SOFT) == [4]


def test_short_entries_are_a_batch() -> None:
    assert alarms(called("set_cell", *({"cell": f"A{row}", "value": "done"} for row in range(9))), SOFT) == []


def test_different_texts_are_a_batch() -> None:
    texts = [
        f"{' '.join(f'{letter}{word}' for word in 'alpha beta gamma delta eps zeta eta'.split())} " * 3 for letter in "klmnopq"
    ]
    assert alarms(called("write_file", *({"path": f"{n}.md", "content": text} for n, text in enumerate(texts))), SOFT) == []


def test_a_text_rewritten_with_its_words_in_another_order_is_told() -> None:
    words = "summary retention vendor price limit support contract renewal notice".split()
    turned = [{"note": " ".join(words[at:] + words[:at]) + " - as found in the three offers"} for at in range(6)]
    assert alarms(called("save_note", *turned), SOFT) == [4]


def test_the_number_is_policy() -> None:
    words = [f"read_page:opening hours museum{more}=closed" for more in ("", " please", " now", " today please", " again")]
    assert alarms(run(*words, policy=Policy(soft_loop_repeats=5)), SOFT) == [4]
