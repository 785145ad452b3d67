from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.monologue import _SENTENCES, Monologue, most_repeated
from otel_processor.model import StopReason

CHANT = "I need to check the file. The file does not exist. I will create the file. "


def told(*answers: str | None) -> list[int]:
    """Positions at which something was told; None is a tool call."""
    talk = Monologue()
    found = []
    for position, answer in enumerate(answers):
        if answer is None:
            talk.acted()
        elif talk.turn(answer, step=position, span_id=str(position)) is not None:
            found.append(position)
    return found


def test_the_same_answer_three_times_in_a_row_is_told() -> None:
    assert told("I am still looking into it.", "I am still  looking into it.", "i am still looking into it.") == [2]


def test_times_and_ids_in_it_do_not_make_it_another() -> None:
    assert told(*[f"As of 12:00:0{second} the job 0x00ff{second}a is still running." for second in range(3)]) == [2]


def test_a_tool_call_in_between_makes_it_an_answer() -> None:
    assert told("I look again at it.", "I look again at it.", None, "I look again at it.", "I look again at it.") == []


def test_short_words_of_courtesy_are_none() -> None:
    assert told(*["OK, done."] * 5) == []


def test_a_sentence_over_and_over_in_one_answer_is_told() -> None:
    talk = Monologue()
    verdict = talk.turn(CHANT * 12, step=3, span_id="s")
    assert verdict is not None
    assert verdict.stop_reason is StopReason.SEMANTIC
    assert verdict.message == "one answer says the same sentence 12 times"
    assert verdict.evidence["steps"] == [3]


@pytest.mark.parametrize(
    "answer",
    [
        "```\n" + "    return self.value_of_this\n" * 30 + "```\nThat is the code.",
        "-" * 400,
        "\n".join(f"- The service number {number} of the list is healthy." for number in range(30)),
        "\n".join(["| a | b |"] * 40),
        CHANT,
    ],
)
def test_code_rules_tables_and_lists_are_none(answer: str) -> None:
    assert told(answer) == []


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    most_repeated(text * 20)
    assert told(text, None, text, None, text * 3, None) in ([], [4])


@given(st.lists(st.sampled_from(["the first of the answers", "the second of the answers", None]), max_size=9))
def test_a_copy_goes_on_by_itself(answers: list[str | None]) -> None:
    talk = Monologue()
    found = []
    for position, answer in enumerate(answers):
        twin = talk.copy()
        for _ in range(3):
            twin.turn("the first of the answers", step=0, span_id="x")
        if answer is None:
            talk.acted()
        elif talk.turn(answer, step=position, span_id="s") is not None:
            found.append(position)
    assert found == told(*answers)


@given(st.text(alphabet=".!?\u3002\uff01 \nab", max_size=40))
def test_sentences_are_parted_as_by_their_marks(text: str) -> None:
    """The marks of a run are one end, or, where no space follows, none; those of scripts without spaces each are one."""
    plain = re.compile(r"[.!?\u3002\uff01\uff1f]+\s+|\n+|[\u3002\uff01\uff1f]")
    assert _SENTENCES.split(text) == plain.split(text)


def test_a_long_run_of_marks_is_looked_at_once() -> None:
    """Each of its marks would else be a beginning that is followed to its end."""
    marks = "." * 1_000
    assert [at for at in range(len(marks)) if _SENTENCES.match(f"{marks} ", at)] == [0]
