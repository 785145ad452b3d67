from __future__ import annotations

import pytest

from otel_processor.model import Pattern, StopReason
from otel_processor.policy import Policy
from tests.unit.detection.small_runs import alarms, run

SEMANTIC = Pattern.SEMANTIC_LOOP
QUESTIONS = [
    "weather paris", "paris weather today", "what is the weather in paris", "weather of paris for today", "current paris weather",
    "paris weather now", "the weather today, paris",
]  # fmt: skip


def test_a_question_asked_in_other_words_without_hits_is_told_at_the_fourth() -> None:
    outcomes = run(*[f"search:{question}=no results" for question in QUESTIONS])
    assert alarms(outcomes, SEMANTIC) == [3]
    (verdict,) = [verdict for verdict in outcomes[3].verdicts if verdict.pattern is SEMANTIC]
    assert verdict.stop_reason is StopReason.SEMANTIC
    assert verdict.message == "search was asked the same in other words 4 times with no new hits"
    assert verdict.evidence["asked"] == QUESTIONS[:4]


def test_the_same_hits_in_another_order_are_no_new_hits() -> None:
    hits = "orchard museum, river museum, glass museum, tower".split(", ")
    words = [f"search:{q}={', '.join(hits[at % 4 :] + hits[: at % 4])}" for at, q in enumerate(QUESTIONS)]
    assert alarms(run(*words), SEMANTIC) == [3]


def test_new_hits_are_work() -> None:
    pages = "umbrella advised, sunny morning, thunder tonight, frost expected, mild breeze, heavy hail, clear skies".split(", ")
    words = [f"search:{question}={page}" for question, page in zip(QUESTIONS, pages, strict=True)]
    assert alarms(run(*words), SEMANTIC) == []


@pytest.mark.parametrize("names", ["lyon nice paris lille brest dijon", "one two three four five six"])
def test_a_template_with_another_name_each_time_asks_for_other_things(names: str) -> None:
    assert alarms(run(*[f"search:population of {name} in france=not found" for name in names.split()]), SEMANTIC) == []


def test_another_number_asks_for_another_thing() -> None:
    assert alarms(run(*[f"search:status of ticket {number} please=not found" for number in range(9)]), SEMANTIC) == []


def test_where_results_are_not_recorded_all_calls_of_the_window_must_ask_the_same() -> None:
    assert alarms(run(*[f"search:{question}" for question in QUESTIONS]), SEMANTIC) == [5]
    mixed = [*QUESTIONS[:3], "train to lyon", *QUESTIONS[3:6]]
    assert alarms(run(*[f"search:{question}" for question in mixed]), SEMANTIC) == []


def test_only_what_asks_by_words_is_looked_at() -> None:
    assert alarms(run(*[f"resize_image:{question}=ok" for question in QUESTIONS]), SEMANTIC) == []


def test_questions_that_lie_far_apart_are_none() -> None:
    words = []
    for number, question in enumerate(QUESTIONS[:5]):
        words += [
            f"search:{question}=no results",
            *(f"read_file:part {number}{x}=text {'wxyz'[x] * (number + 3)}" for x in range(3)),
        ]
    assert alarms(run(*words), SEMANTIC) == []


def test_languages_without_spaces() -> None:
    questions = ["北京明天的天气", "明天北京天气", "北京天气明天怎么样", "请问明天北京的天气", "北京明天天气"]
    assert alarms(run(*[f"search:{question}=没有结果" for question in questions]), SEMANTIC) == [3]


def test_window_and_number_are_policy() -> None:
    words = [f"search:{question}=no results" for question in QUESTIONS]
    assert alarms(run(*words, policy=Policy(semantic_repeats=3)), SEMANTIC) == [2]


def test_a_statement_asks_by_its_literals() -> None:
    words = [
        f"run_query:select id from orders where status is {status} and region is west=[]"
        for status in ("open", "closed", "in progress", "late", "returned to sender", "paid")
    ]
    assert alarms(run(*words), SEMANTIC) == []
