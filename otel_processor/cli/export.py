"""`otel-processor export`: a sealed copy to give away."""

from __future__ import annotations

from pathlib import Path

import click

from otel_processor.cli.options import db_option

READ_SECONDS = 60.0


@click.command()
@db_option
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(["duckdb", "parquet"]),
    default="duckdb",
    show_default=True,
    help="A DuckDB file with all tables and views, or a folder with a Parquet file for each.",
)
@click.option("--no-content", is_flag=True, help="Lengths and hashes in place of arguments, results, messages and other texts.")
@click.option("--since", metavar="TIME", help="Only runs seen since then: 2026-11-30, or 7d for the last week.")
@click.option("--task", "tasks", multiple=True, help="Only runs of this task; may be given several times.")
@click.option("--run", "run_ids", metavar="ID", multiple=True, help="Only this run; may be given several times.")
@click.option("--force", is_flag=True, help="Put it in the place of an earlier export.")
def export(
    db: Path,
    target: Path,
    kind: str,
    no_content: bool,
    since: str | None,
    tasks: tuple[str, ...],
    run_ids: tuple[str, ...],
    force: bool,
) -> None:
    """Make a sealed copy to give away.

    TARGET is for reading only: agents refuse to write to it. Of a chosen run it holds all spans of its traces. Who wrote to the
    database and who was told of alerts is left out, and so is what waits in the spool. With --no-content names, numbers, ids and
    hashes are all that is left: docs/operations.md says which.
    """
    import time

    from otel_processor.cli.sizes import as_size, counted
    from otel_processor.sharing.choice import Choice, microsecond_of
    from otel_processor.sharing.exporting import Format
    from otel_processor.sharing.exporting import export as make

    choice = Choice(
        since_us=microsecond_of(since, "--since", now_ns=time.time_ns()) if since is not None else None,
        tasks=tasks,
        run_ids=run_ids,
    )
    done = make(
        db,
        target,
        kind=Format(kind),
        choice=choice,
        without_content=no_content,
        overwrite=force,
        timeout_seconds=READ_SECONDS,
    )
    click.echo(
        f"{target}: {counted(done.runs, 'run')}, {counted(done.calls, 'call')}, {counted(done.spans, 'span')}, "
        f"{as_size(done.size_bytes)}{', without content' if no_content else ''}"
    )
