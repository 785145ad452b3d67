"""What is kept of a query's rows: so many rows, so many bytes, so many characters of one text."""

from __future__ import annotations

from typing import Any

from otel_processor.errors import QueryError


class Kept:
    """Collects Arrow batches up to its bounds; owned by one thread."""

    def __init__(self, schema: Any, *, limit_rows: int, max_bytes: int, max_cell_chars: int) -> None:
        self._schema = schema
        self._limit_rows = limit_rows
        self._max_bytes = max_bytes
        self._max_cell_chars = max_cell_chars
        self._batches: list[Any] = []
        self._rows = 0
        self._bytes = 0
        self.more: str | None = None
        """Why there are more rows than were kept: `rows` or `bytes`; None: these are all."""
        self.cells_cut = 0

    @property
    def table(self) -> Any:
        """The rows so far."""
        import pyarrow as pa

        return pa.Table.from_batches(self._batches, self._schema)

    def take(self, batch: Any) -> bool:
        """Take in a batch; return whether another one is wanted.

        Raises:
            QueryError: the first row alone is too large.
        """
        batch, longer = self._cut(batch.slice(0, self._limit_rows + 1 - self._rows))
        if self._rows + batch.num_rows > self._limit_rows:
            self.more = "rows"
            batch = batch.slice(0, self._limit_rows - self._rows)
        size = batch.nbytes
        if self._bytes + size > self._max_bytes:
            self.more = "bytes"
            batch = self._fitting(batch)
            if not self._rows and not batch.num_rows:
                raise QueryError(
                    f"one row alone is larger than {self._max_bytes:,} bytes; ask for fewer columns, or for parts of them"
                )
            size = batch.nbytes
        if batch.num_rows:
            self._batches.append(batch)
            self._rows += batch.num_rows
            self._bytes += size
            self.cells_cut += sum(sum(flags[: batch.num_rows]) for flags in longer)
        return self.more is None

    def _fitting(self, batch: Any) -> Any:
        """Return the first rows of a batch, as many as there is room for."""
        rows = 0
        room = self._max_bytes - self._bytes
        while rows < batch.num_rows and (room := room - batch.slice(rows, 1).nbytes) >= 0:
            rows += 1
        return batch.slice(0, rows)

    def _cut(self, batch: Any) -> tuple[Any, list[list[bool]]]:
        """Return the batch with long texts cut, and for each column with such texts which rows have one."""
        import pyarrow as pa
        from pyarrow import compute

        columns, longer = list(batch.columns), []
        for index, column in enumerate(columns):
            if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
                continue
            if (compute.max(compute.binary_length(column)).as_py() or 0) > self._max_cell_chars:
                flags = compute.greater(compute.utf8_length(column), self._max_cell_chars)
                longer.append([bool(flag) for flag in flags.to_pylist()])
                columns[index] = compute.utf8_slice_codeunits(column, 0, self._max_cell_chars)
        return (pa.RecordBatch.from_arrays(columns, schema=batch.schema) if longer else batch), longer
