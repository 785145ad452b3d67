"""`otel-processor dashboard`: the pages over a database, while agents write to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from otel_processor.cli.group import Failure
from otel_processor.cli.options import db_option, host_option, port_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@db_option
@port_option
@host_option
def dashboard(db: Path, port: int, host: str) -> None:
    """Serve the live dashboard over the database.

    It ends with Ctrl-C. The database need not exist yet: the page fills when an agent begins to write.
    """
    from otel_processor.cli.page import address, serving
    from otel_processor.store.upgrading import bring_up_to_date, what_is_wrong

    # The pages only read: what they ask an older database for must be there.
    bring_up_to_date(db)
    try:
        with serving(db, host=host, port=port) as process:
            click.echo(f"Dashboard of {db} on {address(host, port)} (Ctrl-C ends it)")
            if problem := what_is_wrong(db):
                click.echo(f"Warning: {problem}", err=True)
            code = process.wait()
    except KeyboardInterrupt:
        # Ctrl-C is how it ends.
        return
    if code:
        raise Failure(f"the dashboard's server ended with code {code}")
