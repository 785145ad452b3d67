"""Rows as JSON, JSON lines, CSV and Parquet, written while they are fetched."""

from __future__ import annotations

import csv
import json
import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from otel_processor.errors import ConfigError, QueryError
from otel_processor.querying.connection import unique_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from otel_processor.querying.connection import Rows


def write_json(rows: Rows, sink: IO[bytes]) -> None:
    """Write one array of objects."""
    before = b"[\n  "
    for batch in rows.batches:
        for row in batch:
            sink.write(before + _object(rows, row))
            before = b",\n  "
    sink.write(b"[]\n" if before.startswith(b"[") else b"\n]\n")


def write_json_lines(rows: Rows, sink: IO[bytes]) -> None:
    """Write one object a line."""
    for batch in rows.batches:
        for row in batch:
            sink.write(_object(rows, row) + b"\n")


def write_csv(rows: Rows, sink: IO[bytes]) -> None:
    """Write a header and the rows; NULL is an empty field, nested values are JSON."""
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\r\n")
    if rows.names:
        writer.writerow(rows.names)
    sink.write(lines.taken())
    for batch in rows.batches:
        writer.writerows([_field(value) for value in row] for row in batch)
        sink.write(lines.taken())


WRITERS: Mapping[str, Callable[[Rows, IO[bytes]], None]] = {"json": write_json, "jsonl": write_json_lines, "csv": write_csv}


def require_pyarrow() -> None:
    """Fail early, with the remedy, where pyarrow is not installed.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ConfigError("Parquet needs pyarrow: pip install 'otel-processor[dashboard]'") from error


def write_parquet(schema: Any, batches: Iterable[Any], sink: IO[bytes]) -> None:
    """Write Arrow batches as one Parquet file.

    Raises:
        QueryError: a column has a type that Parquet does not know.
    """
    import pyarrow as pa
    from pyarrow import parquet

    names = unique_names(schema.names)
    renamed = pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])
    try:
        with parquet.ParquetWriter(sink, renamed, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch.rename_columns(names))
    except pa.ArrowNotImplementedError as error:
        raise QueryError(f"a column has a type that Parquet does not know; cast it in the query ({error})") from error


def plain(value: Any) -> Any:
    """Turn a value of a query into what JSON can say.

    Whole numbers stay exact; a decimal that no double holds exactly, like a date or an interval, is text; NaN and
    infinities are null; bytes are hex.
    """
    match value:
        case float():
            result: Any = value if math.isfinite(value) else None
        case Decimal():
            result = float(value) if Decimal(repr(float(value))) == value else str(value)
        case dict():
            result = {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            result = [plain(item) for item in value]
        case None | bool() | str() | int():
            result = value
        case datetime() | date() | time():
            result = value.isoformat()
        case bytes() | bytearray() | memoryview():
            result = bytes(value).hex()
        case _:
            result = str(value)
    return result


def _object(rows: Rows, row: Sequence[Any]) -> bytes:
    return _encoded(
        {
            name: _parsed(value) if kind == "JSON" and isinstance(value, str) else plain(value)
            for name, kind, value in zip(rows.names, rows.types, row, strict=True)
        }
    )


def _parsed(text: str) -> Any:
    """Read a JSON column as the value it holds; text that Python cannot read stays text."""
    try:
        return plain(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _encoded(value: Any) -> bytes:
    # Half of a surrogate pair can only be written as it came: escaped.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")


def _field(value: Any) -> Any:
    match value:
        case bool():
            return "true" if value else "false"
        case None | str() | int() | float() | Decimal():
            return value
        case dict() | list() | tuple():
            return json.dumps(plain(value), ensure_ascii=False)
        case _:
            return plain(value)


class _Lines:
    """Lines of CSV. The writer ends them by both characters, since it puts only those of its line end into quotes."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def write(self, line: str) -> None:
        self._lines.append(line.removesuffix("\r\n") + "\n")

    def taken(self) -> bytes:
        """Return the lines since the last time."""
        text = "".join(self._lines)
        self._lines.clear()
        return text.encode(errors="replace")
