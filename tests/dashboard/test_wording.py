"""Numbers, times and foreign text as people get to see them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from dashboard import wording

NOON = datetime(2026, 3, 4, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (7, "7"),
        (2.5, "2.5"),
        (999, "999"),
        (1000, "1k"),
        (1234, "1.2k"),
        (107_200, "107k"),
        (999_499, "999k"),
        (999_960, "1M"),
        (12_400_000, "12.4M"),
        (3e9, "3B"),
        (None, "-"),
        (pd.NA, "-"),
        (float("nan"), "-"),
    ],
)
def test_counts_are_short(value: object, text: str) -> None:
    assert wording.count(value) == text


def test_shares_are_percent_and_unknown_without_a_whole() -> None:
    assert wording.percent(1, 3) == "33 %"
    assert wording.percent(1, 1000) == "< 1 %"
    assert wording.percent(0, 5) == "0 %"
    assert wording.percent(0, 0) == wording.percent(None, 5) == "-"


def test_times_are_those_of_the_viewer() -> None:
    tokyo = wording.zone("Asia/Tokyo")
    assert wording.moment(NOON, tokyo, now=NOON) == "21:00:00"
    assert wording.moment(NOON, tokyo, now=NOON + timedelta(days=2)) == "4 Mar, 21:00:00"
    assert wording.moment(NOON, tokyo, now=NOON + timedelta(days=400)) == "4 Mar 2026, 21:00:00"
    assert wording.moment(pd.NaT, tokyo) == wording.moment(None, tokyo) == "-"


def test_a_timezone_that_does_not_exist_is_utc() -> None:
    for name in (None, "", "Nowhere/City", "../etc"):
        assert wording.zone(name).utcoffset(NOON) == timedelta(0)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0123, "12 ms"), (12.34, "12.3 s"), (250, "4 min 10 s"), (7500, "2 h 5 min"), (-5, "0 ms")]
)
def test_durations_are_in_the_unit_that_fits(seconds: float, text: str) -> None:
    assert wording.duration(NOON, NOON + timedelta(seconds=seconds)) == text


def test_a_duration_without_an_end_is_unknown() -> None:
    assert wording.duration(NOON, pd.NaT) == "-"


def test_characters_that_act_are_shown_and_do_not_act() -> None:
    assert wording.inert("a\x1b[31mb") == "a\u241b[31mb"
    assert wording.inert("\u202egnp.exe") == "[U+202E]gnp.exe"
    assert wording.inert("zero\u200bwidth") == "zero[U+200B]width"
    assert wording.inert("line\r\nline\tend") == "line\nline\tend"
    assert wording.inert("Größe 大きさ 🙂") == "Größe 大きさ 🙂"


def test_long_text_is_cut_to_a_line() -> None:
    assert wording.short("a\nb", 10) == "a b"
    assert wording.short("x" * 20, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "$0.00"), (0.00001, "< $0.0001"), (0.0024, "$0.0024"), (0.1, "$0.10"), (1234.5, "$1,234.50")],
)
def test_small_amounts_of_money_are_not_nothing(value: object, text: str) -> None:
    assert wording.dollars(value) == text


def test_calls_without_a_price_are_told_and_none_is_not() -> None:
    assert wording.unpriced(0) == wording.unpriced(None) == ""
    assert wording.unpriced(1) == "1 model call without a known price not counted."


ALIKE = [
    "", " ", "a", " a", "a ", "a  b", "a b", "a\nb", "\u200b", "[U+200B]", "\x1b", "\u241b", "none",
    *("x" * number for number in range(78, 84)), "x" * 100 + "1" + "y" * 100, "x" * 100 + "2" + "y" * 100,
]  # fmt: skip


def test_no_two_options_are_called_the_same() -> None:
    labels = [wording.option(text, 80, "none") for text in ALIKE]
    assert len(set(labels)) == len(ALIKE)
    assert all(0 < len(label) <= 80 for label in labels)


def test_an_option_that_is_cut_shows_its_beginning_and_its_end() -> None:
    label = wording.option("summarise the report " + "x" * 100 + " number 12", 60)
    assert label.startswith("summarise the report")
    assert " number 12 #" in label


def test_an_option_that_can_be_shown_is_called_by_its_name() -> None:
    assert wording.option("search the web", 80, "none") == "search the web"
