from __future__ import annotations

import base64
import datetime
import decimal
import enum
import json
import math
import random
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection import canonical
from otel_processor.detection.canonical import MAX_DEPTH, MAX_NODES, NotCanonicalError, canonical_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text(st.characters(categories=["Cs", "Lu"]))
JSON_VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5), max_leaves=25
)
EXACT_JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=25,
)


def canonical_text(value: Any) -> str:
    return canonical_json(value).decode()


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555555", "333333333.3333333"),
        ("41b3de4355555556", "333333333.3333334"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_doubles_are_written_as_in_appendix_b_of_rfc_8785(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_text(number) == text
    assert canonical_text({"a": [number]}) == f'{{"a":[{text}]}}'


def test_the_example_of_rfc_8785_section_3_2_2() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert canonical_text(value) == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_are_sorted_by_utf_16_units_as_in_rfc_8785_section_3_2_3() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    assert list(json.loads(canonical_json(dict.fromkeys(keys, 0)))) == [
        "\r",
        "1",
        "\u0080",
        "\u00f6",
        "\u20ac",
        "\U0001f600",
        "\ufb33",
    ]


def test_only_what_must_be_escaped_is_escaped() -> None:
    assert canonical_text('\b\t\n\f\r"\\\x00\x1f\x7f/\u2028é😀') == '"\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u001f\x7f/\u2028é😀"'


class Colour(enum.Enum):
    RED = "red"


class Shade(enum.StrEnum):
    DARK = "dark"


class Level(enum.IntEnum):
    HIGH = 3


class Loud(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "LOUD"


class Counted(int):
    def __str__(self) -> str:
        return "many"


class Measured(float):
    def __repr__(self) -> str:
        return f"Measured({float(self)})"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, '"NaN"'),
        (math.inf, '"Infinity"'),
        (-math.inf, '"-Infinity"'),
        ([math.nan, None], '["NaN",null]'),
        ("\ud800", r'"\ud800"'),
        ('\ud800 \x00\x1f\x7f"\\/\n\u2028é😀\udfff', '"\\ud800 \\u0000\\u001f\x7f\\"\\\\/\\n\u2028é😀\\udfff"'),
        ("a\udfffb\n😀", r'"a\udfffb\n😀"'),
        ({"\ud800": 1}, r'{"\ud800":1}'),
        (2**53 + 1, "9007199254740993"),
        (2**64 + 1, "18446744073709551617"),
        (-(10**30), "-1000000000000000000000000000000"),
        ([1 << 20_000], f'["0x1{"0" * 5_000}"]'),
        (1.0, "1"),
        (1e22, "1e+22"),
        (b"\x00\xff", f'"{base64.b64encode(bytes([0, 255])).decode()}"'),
        (bytearray(b"ab"), '"YWI="'),
        ({1: "a", None: "b"}, '{"1":"a","None":"b"}'),
        ({(1, 2): 3}, '{"(1, 2)":3}'),
        ({"b", "a", "c"}, '["a","b","c"]'),
        (frozenset({2, 1}), "[1,2]"),
        ((1, (2,)), "[1,[2]]"),
        (Colour.RED, '"red"'),
        ([Shade.DARK, Level.HIGH], '["dark",3]'),
        ({Shade.DARK: 1}, '{"dark":1}'),
        (Loud("quiet"), '"quiet"'),
        ({Loud("quiet"): 1}, '{"quiet":1}'),
        (Counted(7), "7"),
        (Measured(1.5), "1.5"),
        (decimal.Decimal("1.50"), '"1.50"'),
        (datetime.date(2026, 11, 30), '"2026-11-30"'),
        ({}, "{}"),
        ([], "[]"),
        ("", '""'),
    ],
)
def test_what_the_rfc_leaves_open_has_a_rule(value: Any, text: str) -> None:
    assert canonical_text(value) == text
    assert canonical._slow(value).decode() == text


def test_numbers_do_not_depend_on_the_hosts_decimal_context() -> None:
    with decimal.localcontext(decimal.Context(prec=3, traps=[decimal.Inexact])):
        assert canonical_text(333333333.33333325) == "333333333.33333325"


def test_structures_up_to_200_deep_stay_structures() -> None:
    assert canonical_text(nested(MAX_DEPTH)) == "[" * 200 + "1" + "]" * 200


def test_deeper_ones_are_the_text_of_their_canonical_json() -> None:
    deep = nested(MAX_DEPTH + 1)
    assert canonical_text(deep) == json.dumps("[" * 201 + "1" + "]" * 201)
    assert json.loads(canonical_json({"b": nested(300), "a": 1})) == '{"a":1,"b":' + "[" * 300 + "1" + "]" * 300 + "}"


def test_depth_is_not_bounded_by_the_interpreter() -> None:
    assert json.loads(canonical_json(nested(50_000))) == "[" * 50_000 + "1" + "]" * 50_000


def _mapping_in_itself() -> Any:
    value: dict[str, Any] = {}
    value["self"] = [value] * 100
    return value


def _list_in_itself() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def _many_times_in_itself() -> Any:
    value: list[Any] = []
    value.extend([value] * 2_000)
    return value


@pytest.mark.parametrize("make", [_mapping_in_itself, _list_in_itself, _many_times_in_itself])
def test_a_value_that_contains_itself_is_refused_when_it_is_met_again(make: Any) -> None:
    with pytest.raises(NotCanonicalError, match=r"^the value contains itself$"):
        canonical_json(make())


def test_a_part_that_stands_in_a_value_twice_is_written_twice() -> None:
    shared = {"b": 1.5}
    assert canonical_json([shared, shared, {"q": shared}]) == b'[{"b":1.5},{"b":1.5},{"q":{"b":1.5}}]'


def test_more_than_a_million_parts_are_refused_however_they_are_written() -> None:
    assert canonical_json([0] * (MAX_NODES - 1)).startswith(b"[0,0,")
    for part in (0, 0.5):
        with pytest.raises(NotCanonicalError):
            canonical_json([part] * MAX_NODES)
    with pytest.raises(NotCanonicalError):
        canonical_json(range(10**15))


@given(JSON_VALUES)
def test_both_writers_agree(value: Any) -> None:
    assert canonical_json(value) == canonical._slow(value)


@given(EXACT_JSON_VALUES)
def test_parsing_gives_the_value_back(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_parsing_gives_the_very_double_back(value: float) -> None:
    text = canonical_text(value)
    assert float(text) == value
    assert len(text) <= 25


@given(JSON_VALUES)
def test_canonical_text_is_its_own_canonical_form(value: Any) -> None:
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text or b"\\ud" in text


@given(st.dictionaries(st.text(max_size=6), JSON_VALUES, max_size=8), st.randoms(use_true_random=False))
def test_key_order_never_matters(value: dict[str, Any], order: random.Random) -> None:
    keys = list(value)
    order.shuffle(keys)
    assert canonical_json({key: value[key] for key in keys}) == canonical_json(value)
