"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

db_option = click.option(
    "--db",
    "db",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="OTEL_PROCESSOR_DB",
    default="agents.duckdb",
    show_default=True,
    show_envvar=True,
    help="The database file.",
)

content_option = click.option(
    "--content/--no-content",
    default=None,
    help="Store what people, models and tools said, or its hashes and lengths only; as OTEL_PROCESSOR_CONTENT says, else stored.",
)

host_option = click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address that the page listens on; the page has no login, so keep it local.",
)

port_option = click.option(
    "--port", type=click.IntRange(1, 65535), default=8501, show_default=True, help="Port that the page listens on."
)
