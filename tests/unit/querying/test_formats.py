"""What values become in JSON and CSV, and columns of one name."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from otel_processor.querying.connection import Rows, unique_names
from otel_processor.querying.formats import plain, write_csv, write_json
from otel_processor.querying.sandbox import explain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**100, 2**100),
        (1.5, 1.5),
        (float("nan"), None),
        (float("-inf"), None),
        (Decimal("0.10"), 0.1),
        (Decimal("0.12345678901234567890"), "0.12345678901234567890"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4), "03:04:00"),
        (timedelta(seconds=61), "0:01:01"),
        (b"\x00\xff", "00ff"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ({1: [float("nan"), (b"a",)]}, {"1": [None, ["61"]]}),
    ],
)
def test_plain(value: object, expected: object) -> None:
    """Every value has a form that JSON can say."""
    assert plain(value) == expected


def test_text_that_is_no_json_stays_text() -> None:
    """A JSON column that Python cannot read is written as the text it is."""
    sink = io.BytesIO()
    deep = "[" * 100_000
    write_json(Rows(["j"], ["JSON"], iter([[("{'no': json",), (deep,), ('"\\ud800"',)]])), sink)
    lines = sink.getvalue().decode().splitlines()
    assert lines[1] == """  {"j": "{'no': json"},"""
    assert deep in lines[2]
    assert lines[3] == '  {"j": "\\ud800"}'


def test_csv_without_columns_is_empty() -> None:
    """A statement that returns nothing writes nothing."""
    sink = io.BytesIO()
    write_csv(Rows([], [], iter(())), sink)
    assert sink.getvalue() == b""


def test_unique_names() -> None:
    """A new name never collides with one that is there."""
    assert unique_names(["a", "a", "a_1", "a", "b"]) == ["a", "a_1", "a_1_1", "a_2", "b"]


def test_explain_puts_suggestions_into_the_sentence() -> None:
    """Several lines of DuckDB become one, and the place follows."""
    text = 'Catalog Error: Table with name x does not exist!\nDid you mean "y"?\n\nLINE 1: from x\n             ^'
    assert explain(text) == 'Catalog Error: Table with name x does not exist! Did you mean "y"?\nLINE 1: from x\n             ^'
    assert explain("Out of Memory Error: no room") == "Out of Memory Error: no room"
