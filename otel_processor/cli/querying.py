"""A user's SQL on a connection that cannot write, reach files or run for ever."""

from __future__ import annotations

import contextlib
import functools
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from otel_processor.cli.in_time import InTime
from otel_processor.errors import QueryError
from otel_processor.store.opening import open_read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import duckdb

T = TypeVar("T")

ROWS_PER_FETCH = 2_000
LOCK_SECONDS = 10.0

SANDBOX = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # A name in a query means a table, never a Python variable of this program.
    "python_enable_replacements": "false",
    # DuckDB may write into its temporary folder whatever else is forbidden.
    "temp_directory": "",
}

_FORBIDDEN = {"COPY", "COPY_DATABASE", "EXPORT", "ATTACH", "DETACH", "LOAD"}
"""Statements that are for files; temporary tables may be changed, the database is open read-only."""

_READ_ONLY = "`sql` is read-only: it cannot change the database or its settings, nor reach files or extensions"

_REFUSED = re.compile(
    r"read-only mode|disabled by configuration|disabled through configuration|configuration has been locked"
    r"|Table with name \S*(/|\.(csv|tsv|json|jsonl|ndjson|parquet|duckdb|db|gz|xlsx)\b)\S* does not exist",
    re.IGNORECASE,
)
_WITHOUT_ROWS = {"CREATE", "CREATE_FUNC", "TRANSACTION", "PREPARE", "VACUUM", "DROP", "SET", "DETACH", "LOAD"}
_NOT_FOR_PARQUET = ("INTERVAL", "BIT", "TIME WITH TIME ZONE")
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code != 10}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a query, fetched while they are read."""

    names: Sequence[str]
    types: Sequence[str]
    batches: Iterator[list[tuple[Any, ...]]]


class Querying:
    """A sandboxed read-only connection with a time limit over everything that is done on it."""

    def __init__(self, db: Path, *, timeout_seconds: float) -> None:
        self._connection = open_read_only(db, timeout_seconds=LOCK_SECONDS, config=SANDBOX)
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
        statements = self._do(lambda: self._connection.extract_statements(text))
        if not statements:
            raise QueryError("there is no SQL in the query")
        for statement in statements:
            if _kind(statement) in _FORBIDDEN:
                raise QueryError(_READ_ONLY)
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
        if _kind(statement) in _WITHOUT_ROWS:
            return Rows([], [], iter(()))
        names = unique_names([column[0] for column in described])
        return Rows(names, [str(column[1]) for column in described], self._fetch(limit))

    def arrow(self, statement: duckdb.Statement, *, limit: int | None) -> tuple[Any, Iterator[Any]]:
        """Start the query and give its Arrow schema and batches; types that Parquet does not know come as text."""
        reader = self._do(lambda: self._arrow_reader(statement, limit))
        return reader.schema, iter(lambda: self._do(lambda: next(reader, None)), None)

    def _run(self, statement: duckdb.Statement) -> None:
        self._connection.execute(statement).fetchall()

    def _do(self, work: Callable[[], T]) -> T:
        import duckdb

        try:
            return self._in_time.do(work)
        except duckdb.Error as error:
            raise QueryError(explain(str(error))) from error

    def _draw(self, statement: duckdb.Statement, limit: int, width: int) -> tuple[str, bool]:
        relation = self._relation(statement)
        kind = _kind(statement)
        if relation is None or kind in _WITHOUT_ROWS:
            return "", False
        if kind == "EXPLAIN":
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

    def _arrow_reader(self, statement: duckdb.Statement, limit: int | None) -> Any:
        relation = self._relation(statement)
        if relation is None or _kind(statement) in _WITHOUT_ROWS:
            raise QueryError("the last statement returns no rows to write as Parquet")
        if limit is not None:
            relation = relation.limit(limit)
        names = relation.columns
        columns = [_for_parquet(name, str(kind)) for name, kind in zip(names, relation.types, strict=True)]
        if any(" as " in column for column in columns) and len(set(names)) == len(names):
            relation = relation.project(", ".join(columns))
        return relation.to_arrow_reader(ROWS_PER_FETCH)

    def _fetch(self, limit: int | None) -> Iterator[list[tuple[Any, ...]]]:
        left = limit
        while left is None or left > 0:
            wanted = ROWS_PER_FETCH if left is None else min(left, ROWS_PER_FETCH)
            batch = self._do(functools.partial(self._connection.fetchmany, wanted))
            if not batch:
                return
            left = None if left is None else left - len(batch)
            yield batch


def explain(text: str) -> str:
    """Say what was wrong with a query: DuckDB's sentence in one line, then the place that it points at."""
    sentence, _, place = text.strip().partition("\n\nLINE ")
    if _REFUSED.search(sentence):
        return _READ_ONLY
    in_one_line = " ".join(line.strip() for line in sentence.splitlines() if line.strip())
    return f"{in_one_line}\nLINE {place}" if place else in_one_line


def without_end(query: str) -> str:
    """Take a last semicolon, and a comment after it, off a statement: as part of another one it must not have them."""
    import duckdb

    raw = query.encode()
    end = len(raw)
    for offset, kind in reversed(duckdb.tokenize(query)):
        if raw[offset : offset + 1] != b";" and not str(kind).endswith("comment"):
            break
        end = offset
    return raw[:end].decode(errors="replace")


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


def _kind(statement: duckdb.Statement) -> str:
    return str(statement.type).rpartition(".")[2]


def _for_parquet(name: str, kind: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return f"{quoted}::VARCHAR as {quoted}" if kind in _NOT_FOR_PARQUET else quoted
