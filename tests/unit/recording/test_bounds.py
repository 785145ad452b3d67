from __future__ import annotations

import hashlib
import math
from typing import Any

import duckdb
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.recording.bounds import MAX_SPAN_CHARS, MAX_VALUE_CHARS, Cuts, bound_attributes, json_text

ANY_TEXT = st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C", "Cs"]), max_size=30) | st.text(
    st.sampled_from('\\ud8"0/u\ud800'), max_size=12
)
ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=12,
)


def bounded(attributes: dict[str, Any]) -> tuple[dict[str, Any], Cuts]:
    cuts: Cuts = {}
    return orjson.loads(bound_attributes(attributes, "attributes", cuts)), cuts


def test_ordinary_attributes_are_kept_as_they_are() -> None:
    attributes = {"a": "x" * 1_000, "b": [1, 2.5, None, True], "c": {"d": "é"}}
    assert bounded(attributes) == (attributes, {})


def test_a_value_of_fifty_megabytes_is_cut_and_its_length_and_hash_are_noted() -> None:
    text = "0123456789" * 5_000_000
    kept, cuts = bounded({"small": 1, "big": text})
    assert kept == {"small": 1, "big": text[:MAX_VALUE_CHARS]}
    assert cuts == {"attributes.big": {"length": 50_000_000, "sha256": hashlib.sha256(text.encode()).hexdigest()}}


def test_a_large_structure_is_cut_as_the_text_of_its_json() -> None:
    value = {"rows": list(range(50_000))}
    kept, cuts = bounded({"big": value})
    assert kept["big"] == orjson.dumps(value).decode()[:MAX_VALUE_CHARS]
    assert cuts["attributes.big"]["length"] == len(orjson.dumps(value))


def test_many_values_that_are_large_only_together_are_all_kept() -> None:
    attributes = {f"key {number}": "x" * 50 for number in range(10_000)}
    assert bounded(attributes) == (attributes, {})


def test_attributes_beyond_the_bound_of_a_span_are_left_out_and_counted() -> None:
    attributes = {f"key {number}": "x" * 1_000 for number in range(10_000)}
    kept, cuts = bounded(attributes)
    assert sum(map(len, kept.values())) <= MAX_SPAN_CHARS
    assert kept == dict(list(attributes.items())[: len(kept)])
    assert cuts == {"attributes": {"kept": len(kept), "of": 10_000}}


def test_a_long_name_is_cut() -> None:
    kept, _ = bounded({"k" * 100_000: 1})
    assert list(kept) == ["k" * MAX_VALUE_CHARS]


def test_a_deep_value_is_kept_as_text() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    kept, _ = bounded({"deep": deep, "a": 1})
    assert kept == {"deep": "[" * 5_000 + "1" + "]" * 5_000, "a": 1}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, '"NaN"'),
        ([1.5, math.inf, None], '[1.5,"Infinity",null]'),
        ({"a": b"\x00\xff"}, '{"a":"AP8="}'),
        ("\ud800", r'"\\ud800"'),
        ("a\\\ud800", r'"a\\\\ud800"'),
        (r"\ud800", r'"\\ud800"'),
        (2**70, "1180591620717411303424"),
        ("\x00", r'"\u0000"'),
        ({1: 2}, '{"1":2}'),
    ],
)
def test_what_json_cannot_say_is_written_so_that_it_can_be_read(value: Any, text: str) -> None:
    assert json_text(value) == text


def test_a_value_that_contains_itself_is_named_by_its_type() -> None:
    endless: list[Any] = []
    endless.extend([endless] * 1_000)
    assert json_text(endless) == "\"<class 'list'>\""


def test_duckdb_accepts_whatever_a_value_holds(memory: duckdb.DuckDBPyConnection) -> None:
    @given(ANY_VALUE, ANY_TEXT)
    def check(value: Any, key: str) -> None:
        text = bound_attributes({key: value}, "attributes", {})
        row = memory.execute("select $1::json, json_keys($1::json)", [text]).fetchone()
        assert row is not None
        assert row[0] == text
        assert len(row[1]) == 1

    check()


@pytest.fixture(scope="module")
def memory() -> Any:
    with duckdb.connect(":memory:") as connection:
        yield connection
