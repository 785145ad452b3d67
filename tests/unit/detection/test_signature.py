from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.signature import VOLATILE_KEYS, parse_arguments, sign

ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
PLAIN_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | ASCII,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ASCII, inner, max_size=4),
    max_leaves=12,
)
PLAIN_ARGUMENTS = st.dictionaries(ASCII.filter(lambda key: key != "" and key not in VOLATILE_KEYS), PLAIN_VALUES, max_size=5)


def test_the_published_test_vector() -> None:
    assert sign("lookup_order", {"order_id": "demo-001"}) == "dd462808b3957b77476e9a1cd85071179ef86b06fc21dfda5a5ad099e4fc8bcf"


@pytest.mark.parametrize(
    ("tool", "arguments", "signature"),
    [
        ("search", {}, "b76eb75df2c2e99ddec2c7b82b8fb3caf4fb3adf626d56a8b1a59fd8a196e393"),
        ("search", "", "906fbbcb3ef3afb44bd868b5ce0b6ca9ca6eb0234452859f95c159756d7a2749"),
        (
            "search",
            {"q": "cats", "limit": 10, "exact": True, "after": None},
            "80a76bbac9c2c170245f6d81f423b177d5ff6e6b771374bb1269705023fe84f1",
        ),
        (
            "search",
            {"q": "c\u00e2ts \U0001f600", "max": 1.50, "ids": [1, 2**64]},
            "67819957ac4ea112b6b0a4036d2b0d5b791ecb54b97f2a9b487c30e5269506e7",
        ),
        ("shell", "ls -la /tmp", "566da10f0e0033e6b24edddcd488f8e55cf7aeb1656bb18271a34cef080526cf"),
        ("", [1, [2]], "e507c73a942ad79024709eff5fda788c93cedba5ee9421517d11d0da3b6679ba"),
    ],
)
def test_signatures_never_drift(tool: str, arguments: Any, signature: str) -> None:
    assert sign(tool, arguments) == signature


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20), PLAIN_ARGUMENTS)
def test_plain_arguments_can_be_signed_with_the_standard_library(tool: str, arguments: dict[str, Any]) -> None:
    text = json.dumps({"name": tool, "arguments": arguments}, sort_keys=True, separators=(",", ":"))
    assert sign(tool, arguments) == hashlib.sha256(text.encode()).hexdigest()


@given(PLAIN_ARGUMENTS, st.sampled_from([None, 2]), st.booleans())
def test_json_text_signs_like_its_value_however_it_is_written(
    arguments: dict[str, Any], indent: int | None, ensure_ascii: bool
) -> None:
    text = json.dumps(dict(reversed(arguments.items())), indent=indent, ensure_ascii=ensure_ascii)
    assert sign("t", f" {text}\n") == sign("t", arguments)


def test_the_tool_the_values_and_their_types_matter() -> None:
    calls: list[tuple[str, Any]] = [
        ("search", {"q": "a"}),
        ("find", {"q": "a"}),
        ("search", {"q": "b"}),
        ("search", {"Q": "a"}),
        ("search", {"q": ["a"]}),
        ("search", {"q": 1}),
        ("search", {"q": "1"}),
        ("search", {"q": True}),
        ("search", {"q": None}),
        ("search", {}),
        ("search", "q a"),
    ]
    assert len({sign(*call) for call in calls}) == len(calls)


def test_text_that_is_no_json_is_trimmed() -> None:
    assert sign("shell", "  ls -la\n") == sign("shell", "ls -la") != sign("shell", "ls  -la")
    assert sign("shell", "{not json") == sign("shell", " {not json ")
    assert sign("shell", "NaN results") == sign("shell", "NaN results ")


@pytest.mark.parametrize("base", [2**53, 2**63, 2**64, 10**40])
def test_huge_integers_that_differ_by_one_differ(base: int) -> None:
    assert sign("t", {"id": base}) != sign("t", {"id": base + 1})
    assert sign("t", f'{{"id": {base}}}') != sign("t", f'{{"id": {base + 1}}}')
    assert sign("t", f'{{"id": {base + 1}}}') == sign("t", {"id": base + 1})


@pytest.mark.parametrize("key", sorted(VOLATILE_KEYS))
def test_volatile_arguments_are_ignored(key: str) -> None:
    assert sign("t", {"q": 1, key: "a"}) == sign("t", {"q": 1, key: "b"}) == sign("t", {"q": 1})


@pytest.mark.parametrize("key", ["id", "time", "request", "Timestamp", "session_id", "token", "trace"])
def test_arguments_that_only_look_volatile_are_kept(key: str) -> None:
    assert sign("t", {key: "a"}) != sign("t", {key: "b"})


@pytest.mark.parametrize("noise", ["", {}, [], None])
def test_an_unnamed_empty_argument_is_noise(noise: Any) -> None:
    assert sign("t", {"": noise, "q": 1}) == sign("t", {"q": 1})
    assert sign("t", {"": noise}) == sign("t", {})


@pytest.mark.parametrize("value", ["x", 0, False, {"a": 1}])
def test_an_unnamed_argument_that_holds_something_counts(value: Any) -> None:
    assert sign("t", {"": value}) != sign("t", {})


def test_unknown_arguments_have_no_signature() -> None:
    assert sign("t", None) is None


def test_a_value_that_contains_itself_has_no_signature() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = [endless] * 1_000
    assert sign("t", endless) is None


def test_the_policys_volatile_keys_give_other_signatures() -> None:
    ignoring = frozenset({"page"})
    assert sign("t", {"page": 1, "q": 2}, ignoring) == sign("t", {"page": 9, "q": 2}, ignoring) == sign("t", {"q": 2})
    assert sign("t", {"page": 1, "q": 2}) != sign("t", {"q": 2})


@pytest.mark.parametrize("depth", [200, 201, 900, 10_000])
def test_deep_json_text_is_signed(depth: int) -> None:
    text = "[" * depth + "]" * depth
    assert sign("t", text) == sign("t", f" {text} ") != sign("t", text[1:-1])


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C", "Cs"])))
def test_any_text_can_be_signed(text: str) -> None:
    assert sign(text, text) == sign(text, text.strip())
    assert len(sign(text, {text: text, "": ""}) or "") == 64


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (" [1, 2.5] ", [1, 2.5]),
        ('"text"', "text"),
        ("12", 12),
        ("null", None),
        ("true", True),
        ("-Infinity", float("-inf")),
        ("18446744073709551617", 2**64 + 1),
        ('["\\ud800"]', ["\ud800"]),
        ("", ""),
        ("truly", "truly"),
        ('{"a": 1} trailing', '{"a": 1} trailing'),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_text_is_parsed_only_when_all_of_it_is_json(text: str, value: Any) -> None:
    assert parse_arguments(text) == value
