"""A query's result as a table on a page: short texts, numbers and times as such, everything else as JSON."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from otel_processor.querying.downloads import python_values
from otel_processor.querying.formats import plain

if TYPE_CHECKING:
    import pandas as pd

    from otel_processor.querying.user_query import QueryResult

SHOWN_CHARS = 2_000
"""Characters of one cell that a page shows; a download has all of them."""


def shown(result: QueryResult, *, longest_chars: int = SHOWN_CHARS) -> tuple[pd.DataFrame, int]:
    """Return the rows as a frame to show, and how many of its cells were shortened for that.

    Whole numbers stay whole beside NULL, times stay times (in UTC); text, and what is neither number, truth nor time, is text
    of `longest_chars` characters at most that ends with an ellipsis where it was shortened.
    """
    import pandas as pd

    shortened = 0
    columns = {}
    for name in result.names:
        values, cut = _column(result.table.column(name), longest_chars)
        columns[name] = values
        shortened += cut
    return pd.DataFrame(columns, index=range(result.table.num_rows)), shortened


def _column(column: Any, longest_chars: int) -> tuple[Any, int]:
    import pandas as pd
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return pd.Series(column.to_pylist(), dtype=_nullable(kind)), 0
    if pa.types.is_floating(kind):
        return column.to_pandas(), 0
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64()).to_pandas(), 0
    if pa.types.is_timestamp(kind):
        with contextlib.suppress(ValueError, OverflowError):
            return column.to_pandas(), 0
    texts = [None if value is None else _text(value) for value in python_values(column)]
    cut = sum(text is not None and len(text) > longest_chars for text in texts)
    return pd.Series([_shortened(text, longest_chars) for text in texts], dtype=object), cut


def _nullable(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "boolean"
    return "UInt64" if pa.types.is_unsigned_integer(kind) else "Int64"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list | tuple):
        return json.dumps(plain(value), ensure_ascii=False)
    return str(plain(value))


def _shortened(text: str | None, longest_chars: int) -> str | None:
    return text if text is None or len(text) <= longest_chars else text[:longest_chars] + "…"
