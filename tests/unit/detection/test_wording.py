from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.wording import WHOLE_CHARS, word_set

ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C", "Cs"]))

REWORDED = [
    ("python asyncio timeout handling", "how to handle timeout in python asyncio"),
    ("weather paris today", "what is the weather in Paris today?"),
    ("Running the tests", "run test"),
    ("best recipes for apple pies", "apple pie recipe, best"),
    ("stopped services", "stop the service"),
    ("movies and policies", "policy, movie"),
    ("ayudas rehabilitación de viviendas 2026", "2026 vivienda: ayuda para la rehabilitacion"),
    ("python_asyncio-timeout", "Python asyncio timeout"),
    ("北京的天气", "天气 北京"),
]
DIFFERENT = [
    ("standard VAT rate Austria", "restaurant opening hours Vienna"),
    ("python asyncio timeout", "rust tokio channel"),
    ("invoice 20931", "refund 4411"),
    ("北京天气", "上海地铁"),
]


@pytest.mark.parametrize(("a", "b"), REWORDED)
def test_the_same_question_in_other_words_has_the_same_words(a: str, b: str) -> None:
    assert word_set(a) == word_set(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_another_question_has_others(a: str, b: str) -> None:
    assert word_set(a).isdisjoint(word_set(b))


def test_numbers_are_kept() -> None:
    assert word_set("page 2 of the list") != word_set("page 3 of the list")


def test_a_question_with_a_word_more_contains_the_other() -> None:
    short, long = word_set("refund policy"), word_set("refund policy for EU customers")
    assert short < long


def test_words_that_only_connect_count_where_there_are_no_others() -> None:
    assert word_set("what is it") == word_set("it is what")
    assert word_set("what is it") != word_set("who are they")
    assert word_set("") == frozenset()


def test_words_with_another_meaning_elsewhere_are_kept() -> None:
    assert len(word_set("war die son")) == 3


def test_of_a_long_text_the_beginning_is_looked_at() -> None:
    beginning = "word " * (WHOLE_CHARS // 5)
    assert word_set(beginning + "another") == word_set(beginning)
    assert len(word_set("".join(chr(0x4E00 + n) for n in range(20_000)))) <= WHOLE_CHARS


@given(ANY_TEXT)
def test_any_text_has_a_set_of_words(text: str) -> None:
    words = word_set(text)
    assert words == word_set(text)
