from __future__ import annotations

import math
from typing import Any

import pytest

from otel_processor.dialects.values import MAX_DEPTH, NOT_JSON, amount, count, decode, flag, parse_json, plain, text_of, word


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, 7),
        ("7", 7),
        (" 7 ", 7),
        (7.0, 7),
        (0, 0),
        (10**12, 10**12),
        (True, None),
        (-1, None),
        ("-1", None),
        (7.5, None),
        (math.nan, None),
        (math.inf, None),
        (10**12 + 1, None),
        (2**63 - 1, None),
        (2**63, None),
        ("9" * 5000, None),
        ("٣", None),
        ("seven", None),
        ("", None),
        (None, None),
        ([7], None),
        (b"7", None),
    ],
)
def test_counts(value: Any, expected: int | None) -> None:
    assert count(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 0.5),
        ("0.5", 0.5),
        (2, 2.0),
        (10**12, 1e12),
        (-1, None),
        (True, None),
        ("nan", None),
        ("inf", None),
        (1e308, None),
        (10**400, None),
        ("x", None),
        (None, None),
    ],
)
def test_amounts(value: Any, expected: float | None) -> None:
    assert amount(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "a"),
        (" a ", "a"),
        (7, "7"),
        (b"a", "a"),
        ("Unknown", None),
        ("N/A", None),
        ("<not specified>", None),
        ("", None),
        (True, None),
        ({}, None),
    ],
)
def test_words(value: Any, expected: str | None) -> None:
    assert word(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, True), ("true", True), (1, True), ("False", False), (0, False), ("maybe", None), (None, None), ([], None)],
)
def test_flags(value: Any, expected: bool | None) -> None:
    assert flag(value) is expected


def test_json_that_strict_parsers_refuse() -> None:
    assert decode('{"n": 123456789012345678901234567890}') == {"n": 123456789012345678901234567890}
    assert math.isnan(parse_json('{"n": NaN}')["n"])
    assert parse_json('["\\ud800"]') == ["\ud800"]


@pytest.mark.parametrize(
    "text", ["", "{", "nope", "[" * 10_000, "[" * 10_000 + "]" * 10_000, '{"a":' * 10_000, "1" * 10_000, "\ud800"]
)
def test_texts_that_hold_no_json(text: str) -> None:
    assert parse_json(text) is NOT_JSON
    assert decode(text) == text


def test_deep_structures_are_cut() -> None:
    deep: Any = "end"
    for _ in range(10_000):
        deep = [deep]
    depth = 0
    level = plain(deep)
    while isinstance(level, list):
        level, depth = level[0], depth + 1
    assert (level, depth) == ("…", MAX_DEPTH)


def test_structures_become_plain() -> None:
    assert plain({1: (b"ab", b"\xff", {"x"}, object)}) == {"1": ["ab", "/w==", ["x"], "<class 'object'>"]}
    assert text_of({"a": ("é",)}) == '{"a": ["é"]}'
