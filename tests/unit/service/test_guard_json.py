"""Any body is read or refused, and never raises anything else."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otel_processor.service.guard_api.messages import AfterTool
from otel_processor.service.guard_api.questions import DEPTH, read_question
from otel_processor.service.refused import Refused

DECODER = msgspec.json.Decoder(AfterTool)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def read(body: bytes) -> Any:
    return read_question(DECODER, body)


def status(body: bytes) -> int:
    try:
        read(body)
    except Refused as refused:
        return refused.http
    return 200


@given(values)
def test_any_json_value_comes_through(value: Any) -> None:
    found = read(msgspec.json.encode({"run_id": "r", "result": value, "something": value})).result
    # Beyond 64 bits a whole number may have become a float on its way out.
    assert found == value or math.isclose(found, value)


@example("\ud83d cut in two \ude00")
@given(st.text(st.characters(exclude_categories=())))
def test_halves_of_surrogate_pairs_become_marks(text: str) -> None:
    found = read(json.dumps({"result": text, "error": text}).encode())
    expected = json.loads(json.dumps(text)).encode("utf-8", "replace").decode()
    assert (found.result, found.error) == (expected, expected)


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    assert status(body) in {200, 400}


@given(values, st.integers(0, 1 << 16), st.binary(max_size=3), st.integers(0, 5))
def test_spoilt_json_is_read_or_refused(value: Any, at: int, put: bytes, gone: int) -> None:
    body = msgspec.json.encode({"run_id": "r", "call_id": "c", "progress": True, "result": value})
    at %= len(body)
    assert status(body[:at] + put + body[at + gone :]) in {200, 400}


@pytest.mark.parametrize("pair", [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"]":', b"}]")])
def test_depth_is_that_of_values_and_not_of_texts(pair: tuple[bytes, bytes]) -> None:
    levels = pair[0].count(b"[") + pair[0].count(b"{")
    text = b'"' + b'[{\\"[' * 500 + b'\\\\"'
    for more, is_taken in ((0, True), (1, False)):
        times = (DEPTH - 1) // levels + more * 2
        body = b'{"result": ' + pair[0] * times + text + pair[1] * times + b"}"
        if is_taken:
            read(body)
        else:
            with pytest.raises(Refused, match="nested deeper"):
                read(body)
