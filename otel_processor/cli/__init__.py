"""The command line: `otel-processor`. Each command is a file; what it needs is imported when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from otel_processor.cli.alert import alert
from otel_processor.cli.backup import backup
from otel_processor.cli.compact import compact
from otel_processor.cli.dashboard import dashboard
from otel_processor.cli.demo import demo
from otel_processor.cli.doctor import doctor
from otel_processor.cli.export import export
from otel_processor.cli.group import CarefulGroup
from otel_processor.cli.import_ import import_files
from otel_processor.cli.prune import prune
from otel_processor.cli.replay import replay
from otel_processor.cli.serve import serve
from otel_processor.cli.sql import sql

if TYPE_CHECKING:
    from click import Context, Parameter

__all__ = ["cli", "main"]


def _show_version(context: Context, _: Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from otel_processor.version import package_version

        click.echo(f"otel-processor {package_version()}")
        context.exit()


@click.group(cls=CarefulGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version and exit."
)
def cli() -> None:
    """See AI agents loop while it happens.

    Spans of an instrumented agent go into a DuckDB file; these commands fill it, read it and check it.
    Exit codes: 0 fine, 1 something is wrong with the data or the database, 2 wrong usage.
    """


for command in (demo, import_files, serve, dashboard, sql, alert, doctor, replay, prune, compact, backup, export):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit with its code."""
    cli(prog_name="otel-processor")
