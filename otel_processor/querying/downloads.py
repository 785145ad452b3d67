"""A query's result as a file: CSV for a spreadsheet or a program, Parquet for everything else."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from otel_processor.querying.connection import Rows
from otel_processor.querying.formats import write_csv, write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_processor.querying.user_query import QueryResult

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

_ROWS_PER_BATCH = 1_000

OUT_OF_RANGE = "(out of range)"
"""Stands for a value with a date that Python cannot hold: beyond the year 9999. Parquet has it."""


def csv_bytes(result: QueryResult, *, for_spreadsheet: bool = True) -> bytes:
    """Return the rows as CSV: a header, NULL as an empty field, nested values as JSON, UTF-8.

    What agents and tools wrote may begin like a formula, which a spreadsheet runs as soon as the file is opened. So such text
    (also a column's name, never a number) gets an apostrophe before it, which spreadsheets take as "this is text".

    Args:
        result: of a query.
        for_spreadsheet: False for values exactly as they are, for a program.
    """
    names = [_as_text(name) for name in result.names] if for_spreadsheet else list(result.names)
    sink = io.BytesIO()
    write_csv(Rows(names, result.types, _batches(result, for_spreadsheet)), sink)
    return sink.getvalue()


def parquet_bytes(result: QueryResult) -> bytes:
    """Return the rows as a Parquet file, values and types as they are.

    Raises:
        QueryError: a column has a type that Parquet does not know.
    """
    sink = io.BytesIO()
    write_parquet(result.table.schema, result.table.to_batches(), sink)
    return sink.getvalue()


def python_values(column: Any) -> list[Any]:
    """Return an Arrow column as Python values; what holds a date that Python cannot is `OUT_OF_RANGE`."""
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    except (OverflowError, ValueError):
        values = [_python_value(value) for value in column]
    return values


def _python_value(value: Any) -> Any:
    try:
        return value.as_py(maps_as_pydicts="lossy")
    except (OverflowError, ValueError):
        return OUT_OF_RANGE


def _batches(result: QueryResult, for_spreadsheet: bool) -> Iterator[list[tuple[Any, ...]]]:
    for batch in result.table.to_batches(max_chunksize=_ROWS_PER_BATCH):
        columns = [python_values(column) for column in batch.columns]
        if for_spreadsheet:
            columns = [[_as_text(value) if isinstance(value, str) else value for value in column] for column in columns]
        yield list(zip(*columns, strict=True))


def _as_text(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
