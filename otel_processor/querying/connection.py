"""A user's SQL on a connection that cannot write, reach files or run for ever."""

from __future__ import annotations

import contextlib
import functools
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from otel_processor.errors import QueryError
from otel_processor.querying.in_time import InTime
from otel_processor.querying.sandbox import READ_ONLY, SANDBOX, explain, is_forbidden, kind_of, returns_rows, without_end
from otel_processor.store.opening import open_read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb

T = TypeVar("T")

ROWS_PER_FETCH = 2_000
LOCK_SECONDS = 10.0

_NOT_FOR_PARQUET = ("INTERVAL", "BIT", "TIME WITH TIME ZONE")
_TEXTS = ("VARCHAR", "JSON")
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code != 10}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a query, fetched while they are read."""

    names: Sequence[str]
    types: Sequence[str]
    batches: Iterator[list[tuple[Any, ...]]]


class Arrow(NamedTuple):
    """The rows of a query as Arrow batches, fetched while they are read."""

    types: list[str]
    """What DuckDB calls the types of the columns."""
    schema: Any
    batches: Iterator[Any]


class Querying:
    """A sandboxed read-only connection with a time limit over everything that is done on it."""

    def __init__(self, db: Path, *, timeout_seconds: float, settings: Mapping[str, str] | None = None) -> None:
        """Open the database.

        Args:
            db: the database file.
            timeout_seconds: for everything that is done on the connection together.
            settings: DuckDB's, beyond those of the sandbox.

        Raises:
            StoreError: there is no such database, or it cannot be opened.
        """
        self._connection = open_read_only(db, timeout_seconds=LOCK_SECONDS, config={**(settings or {}), **SANDBOX})
        self._connection.execute("set TimeZone = 'UTC'")
        # Locked last: after this nothing can be set, the time zone neither.
        self._connection.execute("set lock_configuration = true")
        self._in_time = InTime(self._connection, timeout_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._in_time.close()
        self._connection.close()

    def run_all_but_last(self, text: str) -> duckdb.Statement:
        """Run the statements of `text` up to the last one, which is returned unrun.

        Raises:
            QueryError: there is no statement, or one of them is wrong or refused.
        """
        _check_characters(text)
        statements = self._do(lambda: self._connection.extract_statements(text))
        if not statements:
            raise QueryError("there is no SQL in the query")
        for statement in statements:
            if is_forbidden(statement):
                raise QueryError(READ_ONLY)
        for statement in statements[:-1]:
            self._do(functools.partial(self._run, statement))
        return statements[-1]

    def table(self, statement: duckdb.Statement, *, limit: int, width: int) -> tuple[str, bool]:
        """Render the rows as a box, and say whether there are more than `limit` of them."""
        return self._do(lambda: self._draw(statement, limit, width))

    def rows(self, statement: duckdb.Statement, *, limit: int | None) -> Rows:
        """Start the query and give its rows in batches."""
        self._do(lambda: self._connection.execute(statement))
        described = self._connection.description or []
        if not returns_rows(statement):
            return Rows([], [], iter(()))
        names = unique_names([column[0] for column in described])
        return Rows(names, [str(column[1]) for column in described], self._fetch(limit))

    def arrow(
        self,
        statement: duckdb.Statement,
        *,
        limit: int | None,
        longest_chars: int | None = None,
        rows_per_batch: int = ROWS_PER_FETCH,
    ) -> Arrow:
        """Start the query and give its Arrow schema and batches; types that Parquet does not know come as text.

        Args:
            statement: of this connection.
            limit: rows at most; None: all of them.
            longest_chars: after which text is cut; None: never.
            rows_per_batch: at most.
        """
        types, reader = self._do(lambda: self._arrow_reader(statement, limit, longest_chars, rows_per_batch))
        return Arrow(types, reader.schema, iter(lambda: self._do(lambda: next(reader, None)), None))

    def _run(self, statement: duckdb.Statement) -> None:
        self._connection.execute(statement).fetchall()

    def _do(self, work: Callable[[], T]) -> T:
        import duckdb

        try:
            return self._in_time.do(work)
        except (duckdb.Error, OSError) as error:
            # Arrow hands what went wrong in the middle of a query on as an OSError.
            raise QueryError(explain(str(error))) from error

    def _draw(self, statement: duckdb.Statement, limit: int, width: int) -> tuple[str, bool]:
        relation = self._relation(statement)
        if relation is None or not returns_rows(statement):
            return "", False
        if kind_of(statement) == "EXPLAIN":
            return "\n".join(str(row[-1]) for row in relation.fetchall()) + "\n", False
        drawn = io.StringIO()
        with contextlib.redirect_stdout(drawn):
            relation.limit(limit).show(max_rows=limit, max_width=width)
        box = drawn.getvalue().rstrip("\n").translate(_CONTROL) + "\n"
        # A relation keeps no rows, so asking for more runs the query again: only where the box is long enough to be full.
        more = box.count("\n") > limit and bool(relation.limit(1, offset=limit).fetchall())
        return box, more

    def _relation(self, statement: duckdb.Statement) -> duckdb.DuckDBPyRelation | None:
        import duckdb

        whole = statement.query
        alone = without_end(whole)
        try:
            return self._connection.sql(statement if alone == whole else alone)
        except duckdb.Error:
            # Executing says in addition at which place the query is wrong.
            self._connection.execute(statement)
            raise

    def _arrow_reader(
        self, statement: duckdb.Statement, limit: int | None, longest_chars: int | None, rows_per_batch: int
    ) -> tuple[list[str], Any]:
        relation = self._relation(statement)
        if relation is None or not returns_rows(statement):
            raise QueryError("the last statement returns no rows")
        if limit is not None:
            relation = relation.limit(limit)
        names, types = relation.columns, [str(kind) for kind in relation.types]
        columns = [_for_arrow(name, kind, longest_chars) for name, kind in zip(names, types, strict=True)]
        if any(" as " in column for column in columns) and len({name.lower() for name in names}) == len(names):
            relation = relation.project(", ".join(columns))
        return types, relation.to_arrow_reader(rows_per_batch)

    def _fetch(self, limit: int | None) -> Iterator[list[tuple[Any, ...]]]:
        left = limit
        while left is None or left > 0:
            wanted = ROWS_PER_FETCH if left is None else min(left, ROWS_PER_FETCH)
            batch = self._do(functools.partial(self._connection.fetchmany, wanted))
            if not batch:
                return
            left = None if left is None else left - len(batch)
            yield batch


def _check_characters(text: str) -> None:
    """Refuse what DuckDB reads in part only, or not at all."""
    if "\0" in text:
        raise QueryError("the query holds a NUL character; write chr(0) for it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QueryError("the query holds half of a character (a lone surrogate)") from error


def unique_names(names: Sequence[str]) -> list[str]:
    """Give each column a name of its own: `a`, `a_1`, `a_2`."""
    seen: set[str] = set()
    result = []
    for name in names:
        candidate, number = name, 0
        while candidate in seen:
            number += 1
            candidate = f"{name}_{number}"
        seen.add(candidate)
        result.append(candidate)
    return result


def _for_arrow(name: str, kind: str, longest_chars: int | None) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    if kind in _NOT_FOR_PARQUET:
        return f"{quoted}::VARCHAR as {quoted}"
    if longest_chars is not None and kind in _TEXTS:
        return f"left({quoted}::VARCHAR, {longest_chars}) as {quoted}"
    return quoted
