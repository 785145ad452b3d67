"""`otel-processor sql`: ask the database in SQL, without a way to change it or to reach files."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from otel_processor.cli.group import Failure, UsageFailure
from otel_processor.cli.options import db_option
from otel_processor.errors import QueryStoppedError
from otel_processor.store import spool
from otel_processor.store.opening import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE_ROWS = 1_000
WIDTH_WITHOUT_TERMINAL = 160


@click.command()
@db_option
@click.argument("query")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json", "jsonl", "csv", "parquet"]),
    default="table",
    show_default=True,
    help="How the rows are written; json is one array, jsonl one object a line.",
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write to, instead of standard output.")
@click.option(
    "--limit", type=click.IntRange(min=1), help=f"Rows to write at most; a table shows {TABLE_ROWS:,} unless told, others all."
)
@click.option(
    "--timeout",
    "timeout_seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds after which the query is stopped; writers wait while it runs.",
)
def sql(*, db: Path, query: str, format_: str, output: Path | None, limit: int | None, timeout_seconds: float) -> None:
    """Run SQL on the database, read-only.

    QUERY is `-` to read it from standard input. Of several statements the last one's rows are written.
    The views to ask: runs, calls, alerts, steps_per_task, tokens_per_task, stop_reason_distribution,
    repeated_tool_signature_rate, no_progress_steps, flat_streaks, cost_reconciliation.
    """
    from otel_processor.querying import formats

    if format_ == "parquet":
        formats.require_pyarrow()
        if output is None and sys.stdout.isatty():
            raise click.UsageError("parquet is not for a terminal; add --output FILE")
    if not db.exists():
        raise missing(db)
    if output is not None and _is_part_of(output, db):
        raise UsageFailure(f"{output} belongs to the database itself; write the rows to another file")
    if spool.pending(db):
        click.echo(f"Some spans still wait in {spool.folder_of(db)}: `otel-processor import --db {db}` takes them in.", err=True)
    text = sys.stdin.read() if query == "-" else query
    try:
        _answer(db, text, format_=format_, output=output, limit=limit, timeout_seconds=timeout_seconds)
    except QueryStoppedError as error:
        raise Failure(f"{error}; --timeout gives it more") from error


def _answer(db: Path, text: str, *, format_: str, output: Path | None, limit: int | None, timeout_seconds: float) -> None:
    from otel_processor.querying import formats
    from otel_processor.querying.connection import Querying

    with Querying(db, timeout_seconds=timeout_seconds) as querying:
        statement = querying.run_all_but_last(text)
        if format_ == "table":
            width = shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns
            shown, more = querying.table(statement, limit=limit or TABLE_ROWS, width=width)
            with _sink(output) as sink:
                sink.write(shown.encode(errors="replace"))
            if more:
                click.echo(f"Only the first {limit or TABLE_ROWS:,} rows; --limit N shows more, --format csv all.", err=True)
        elif format_ == "parquet":
            found = querying.arrow(statement, limit=limit)
            with _sink(output) as sink:
                formats.write_parquet(found.schema, found.batches, sink)
        else:
            rows = querying.rows(statement, limit=limit)
            with _sink(output) as sink:
                formats.WRITERS[format_](rows, sink)


def _is_part_of(output: Path, db: Path) -> bool:
    """Return whether a file is the database or lies beside it as a part of it."""
    name, real = output.absolute().resolve(), db.absolute().resolve()
    return name == real or name == real.with_name(real.name + ".wal") or spool.folder_of(db) in name.parents


@contextmanager
def _sink(output: Path | None) -> Iterator[IO[bytes]]:
    """Give a place for bytes; a file appears under its name only when it is complete."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if output.exists() and not output.is_file():
        with output.open("wb") as stream:
            yield stream
        return
    partial = output.with_name(f".{output.name}.partial")
    try:
        with partial.open("wb") as stream:
            yield stream
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)
