"""What a query found, as a file and as a table on a page."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pyarrow.parquet
import pytest

from otel_processor.errors import QueryError
from otel_processor.querying.downloads import csv_bytes, parquet_bytes
from otel_processor.querying.showing import shown
from otel_processor.querying.user_query import QueryResult, UserQuery

if TYPE_CHECKING:
    from pathlib import Path

ODD = """
select 12.50::DECIMAL(10, 2) as price, timestamptz '2026-01-02 03:04:05.678+00' as moment, timestamp '99999-01-01' as far,
       date '2026-01-02' as day, {'a': [1, 2]} as nested, map {'k': 1.5} as mapped, interval '26 hours' as span,
       '{"deep": 1}'::JSON as document, true as yes, NULL::BIGINT as nothing, 9007199254740993 as exact,
       'a "quoted", text' || chr(10) || 'näher 日本' as words, '\\xAA\\x00'::BLOB as bytes, 'x'::ENUM('x') as choice
union all
select NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
"""


def found(db: Path, query: str) -> QueryResult:
    return UserQuery(db, query).run()


def test_csv_has_values_as_they_are(asked: Path) -> None:
    row, empty = csv.DictReader(io.StringIO(csv_bytes(found(asked, ODD)).decode()))
    assert row["price"] == "12.50"
    assert row["moment"] == "2026-01-02T03:04:05.678000+00:00"
    assert row["far"] == "(out of range)"
    assert (row["nested"], row["mapped"], row["document"]) == ('{"a": [1, 2]}', '{"k": 1.5}', '{"deep": 1}')
    assert (row["yes"], row["nothing"], row["exact"], row["bytes"]) == ("true", "", "9007199254740993", "aa00")
    assert row["words"] == 'a "quoted", text\nnäher 日本'
    assert set(empty.values()) == {""}


def test_csv_of_long_values_is_not_shortened(asked: Path) -> None:
    text = csv_bytes(found(asked, "select repeat('x', 500000) as x")).decode()
    assert text == f"x\n{'x' * 500_000}\n"


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_what_begins_like_a_formula_is_text_in_a_spreadsheet(asked: Path, begin: str) -> None:
    told = f"{begin}HYPERLINK('x')"
    quoted = told.replace("'", "''")
    result = found(asked, f"select '{quoted}' as \"{begin}name\", -5 as number, 'a=b' as harmless")
    header, row = csv.reader(io.StringIO(csv_bytes(result).decode(), newline=""))
    assert header == [f"'{begin}name", "number", "harmless"]
    assert row == [f"'{told}", "-5", "a=b"]
    exact = list(csv.reader(io.StringIO(csv_bytes(result, for_spreadsheet=False).decode(), newline="")))
    assert exact[1] == [told, "-5", "a=b"]


def test_parquet_has_values_and_types_as_they_are(asked: Path) -> None:
    query = ODD.replace("99999-01-01", "2026-01-01")
    table = pyarrow.parquet.read_table(io.BytesIO(parquet_bytes(found(asked, query))))
    row = table.to_pylist()[0]
    assert row["moment"].isoformat() == "2026-01-02T03:04:05.678000+00:00"
    assert (row["nested"], row["exact"], row["bytes"]) == ({"a": [1, 2]}, 9007199254740993, b"\xaa\x00")
    assert table.schema.field("price").type == pyarrow.decimal128(10, 2)


def test_what_parquet_cannot_say_is_said(asked: Path) -> None:
    with pytest.raises(QueryError, match="cast it in the query"):
        parquet_bytes(found(asked, "select {'i': interval '1 day'} as s"))


def test_a_page_shows_short_texts_and_exact_numbers(asked: Path) -> None:
    frame, shortened = shown(found(asked, ODD), longest_chars=12)
    row = frame.iloc[0]
    assert shortened == 2
    assert row["words"] == 'a "quoted", …'
    assert (row["exact"], row["price"], row["yes"], row["choice"]) == (9007199254740993, 12.5, True, "x")
    assert row["moment"].isoformat() == "2026-01-02T03:04:05.678000+00:00"
    assert row["nested"] == '{"a": [1, 2]…'
    assert frame.iloc[1].isna().all()


def test_a_page_shows_no_rows_and_every_type(asked: Path) -> None:
    frame, shortened = shown(found(asked, "select 1 as a, 'x' as b where false"))
    assert (list(frame.columns), len(frame), shortened) == (["a", "b"], 0, 0)
    every = found(asked, "from test_all_types()")
    assert len(shown(every)[0]) == every.table.num_rows
    assert csv_bytes(every).count(b"\n") > every.table.num_rows
