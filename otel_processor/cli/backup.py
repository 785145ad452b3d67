"""`otel-processor backup`: a copy of the database while agents write."""

from __future__ import annotations

from pathlib import Path

import click

from otel_processor.cli.options import db_option

READ_SECONDS = 60.0


@click.command()
@db_option
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Put it in the place of a database that is there.")
def backup(db: Path, target: Path, force: bool) -> None:
    """Copy the database as it is at one moment to TARGET.

    Agents that write meanwhile wait, or put their spans into the spool. What waits in the spool when this begins is copied to
    TARGET.spool, and is taken into the copy by whoever writes to it first. The copy opens like any database; to go back to it,
    put it in the place of the other one while nobody writes.
    """
    from otel_processor.cli.sizes import as_size, counted
    from otel_processor.store.backing_up import backup as copy

    done = copy(db, target, overwrite=force, timeout_seconds=READ_SECONDS)
    click.echo(f"{target}: {as_size(done.file_bytes)}, {counted(done.spans, 'span')}")
    if done.spooled:
        click.echo(
            f"{counted(done.spooled, 'batch') if done.spooled == 1 else f'{done.spooled:,} batches'} of the spool beside it"
        )
