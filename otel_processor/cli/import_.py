"""`otel-processor import`: OTLP/JSON files into the database, through the same pipeline as live spans."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from otel_processor.cli.options import content_option, db_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STANDARD_INPUT = Path("-")


@click.command("import")
@db_option
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@content_option
@click.pass_context
def import_files(context: click.Context, db: Path, files: tuple[Path, ...], content: bool | None) -> None:
    """Read OTLP/JSON files into the database.

    Each of FILES holds one request of traces, or of coding agents' logs, or one a line, plain or .gz; `-` reads standard input.
    Spans that are in the database already are counted and left as they are, so importing twice does no harm.
    Without FILES, what waits in the spool beside the database is taken in, and nothing else is read.
    In the end runs that are open are closed as abandoned where they are idle for longer than the policy's
    run_idle_timeout_seconds; spans that come after all open them again.
    What is malformed is counted and left out, a file that is no OTLP is named; the rest is imported, and the exit
    code is 1.
    """
    from otel_processor.cli.importing import Importer, is_clean, summed_up, totals
    from otel_processor.store import spool

    if not files and not db.exists() and not spool.pending(db):
        raise click.UsageError(f"give the files to import; there is no database at {db}, and nothing waits beside it")
    with _readable(files) as readable, Importer(db, content=content) as importer:
        for name, path in readable:
            importer.take(name, path)
        importer.finish()
    for failure in importer.failures:
        click.echo(f"Error: {failure}", err=True)
    if files:
        click.echo(summed_up(importer, len(files)))
    click.echo(f"{db} holds {totals(db)}")
    if not is_clean(importer):
        context.exit(1)


@contextmanager
def _readable(files: Sequence[Path]) -> Iterator[list[tuple[str, Path]]]:
    """Give each file with the name to tell; standard input is kept in a temporary file, so that its size is known."""
    with tempfile.TemporaryDirectory(prefix="otel-processor-") as folder:
        readable = []
        for number, path in enumerate(files):
            if path != STANDARD_INPUT:
                readable.append((str(path), path))
                continue
            kept = Path(folder) / f"stdin-{number}.json"
            with kept.open("wb") as target:
                shutil.copyfileobj(sys.stdin.buffer, target)
            readable.append(("standard input", kept))
        yield readable
