"""`otel-processor demo`: agents that work and agents that loop, with a fake model, and the dashboard on them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import click

from otel_processor.cli.options import host_option, port_option
from otel_processor.errors import ConfigError

HEADLESS_SECONDS = 20.0
WATCHED_SECONDS = 45.0


@click.command()
# One of its own, whatever the environment says: made-up runs do not mix with those of real agents.
@click.option(
    "--db", type=click.Path(dir_okay=False, path_type=Path), default="demo.duckdb", show_default=True, help="The database file."
)
@port_option
@host_option
@click.option("--headless", is_flag=True, help="Without the dashboard: play, sum up, and exit with 1 if the pipeline failed.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=5, max=3_600),
    help=f"How long agents are started; {WATCHED_SECONDS:g} unless told, {HEADLESS_SECONDS:g} when headless.",
)
@click.pass_context
def demo(context: click.Context, *, db: Path, port: int, host: str, headless: bool, seconds: float | None) -> None:
    """Watch a small agent work, loop and be caught.

    Its model is a fake: neither a key nor a network is needed. Its runs go into a database of their own.
    """
    if importlib.util.find_spec("pydantic_ai") is None:
        raise ConfigError("the demo needs pydantic-ai: pip install 'otel-processor[demo]'")
    from otel_processor.demo.tour import Tour

    if db.exists() and db.stat().st_size:
        click.echo(f"{db} exists; the demo adds its runs to what is there.")
    if headless:
        works = Tour(db, say=click.echo).play(seconds or HEADLESS_SECONDS)
        context.exit(0 if works else 1)

    from otel_processor.cli.page import address, serving

    try:
        with serving(db, host=host, port=port) as process:
            click.echo(f"Dashboard on {address(host, port)} (Ctrl-C ends the demo)\n")
            Tour(db, say=click.echo).play(seconds or WATCHED_SECONDS)
            click.echo(f"\nThe dashboard stays up on {address(host, port)} until Ctrl-C.")
            process.wait()
    except KeyboardInterrupt:
        click.echo(f"\nThe demo has ended; its runs are in {db}.")
