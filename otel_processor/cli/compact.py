"""`otel-processor compact`: the file gives room back to the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from otel_processor.cli.options import db_option

if TYPE_CHECKING:
    from pathlib import Path

HOLD_SECONDS = 60.0


@click.command()
@db_option
def compact(db: Path) -> None:
    """Write a database anew, without the room that removed runs left.

    The new file is made beside the old one and takes its place in one step. Agents that write meanwhile wait, or put their spans
    into the spool, and then write to the new file; nothing is lost, and when this is interrupted the old file is as it was. The
    disk needs room for both.
    """
    from otel_processor.cli.sizes import as_size
    from otel_processor.store.compacting import compact as write_anew

    done = write_anew(db, timeout_seconds=HOLD_SECONDS)
    if done.after == done.before:
        click.echo(f"{db} has {as_size(done.before)} and gets no smaller")
    else:
        click.echo(f"{db} had {as_size(done.before)}, has {as_size(done.after)} now")
