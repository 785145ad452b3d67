"""`otel-processor prune`: old runs go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from otel_processor.cli.options import db_option

if TYPE_CHECKING:
    from pathlib import Path

WRITE_SECONDS = 60.0


@click.command()
@db_option
@click.option("--older-than", metavar="DURATION", help="Remove runs of which nothing was seen for so long: 30d, 12h, 2w.")
@click.option("--max-size", metavar="SIZE", help="Remove the oldest runs until the rest takes no more than this: 5GB, 500MB.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
def prune(db: Path, older_than: str | None, max_size: str | None, dry_run: bool) -> None:
    """Remove old runs, always whole.

    With their spans, calls, alerts and messages; traces that belong to no run go by their spans. A run that still gets spans
    stays. What OTEL_PROCESSOR_KEEP_DAYS and OTEL_PROCESSOR_MAX_SIZE say counts when neither option is given.
    Some runs go at a time, so that agents go on writing. The file keeps its size, and what comes next goes into the room that
    became free: `compact` makes it smaller.
    """
    from otel_processor.cli.progress import Progress
    from otel_processor.cli.sizes import as_size
    from otel_processor.errors import ConfigError
    from otel_processor.policy import Policy
    from otel_processor.recording.retaining import Prune
    from otel_processor.retention import Retention, bytes_of, seconds_of

    retention = Retention(
        older_than_seconds=seconds_of(older_than, "--older-than") if older_than is not None else None,
        max_bytes=bytes_of(max_size, "--max-size") if max_size is not None else None,
    )
    if not retention.is_set:
        retention = Retention.from_environment()
    if not retention.is_set:
        raise ConfigError("say what may go, with --older-than 30d or --max-size 5GB")
    work = Prune(db, retention, idle_seconds=Policy().run_idle_timeout_seconds, dry_run=dry_run)
    before = work.size(timeout_seconds=WRITE_SECONDS)
    progress = Progress("prune", before.spans)
    try:
        for done in work.run(timeout_seconds=WRITE_SECONDS):
            progress.show(done)
    finally:
        progress.end()
    click.echo(f"{'would remove' if dry_run else 'removed'} {work.removed}")
    if dry_run:
        return
    after = work.size(timeout_seconds=WRITE_SECONDS)
    click.echo(
        f"{as_size(before.live_bytes)} were in use, {as_size(after.live_bytes)} are; the file has {as_size(after.file_bytes)}"
        + (f", `otel-processor compact --db '{db}'` makes it smaller" if after.free_bytes > after.file_bytes // 10 else "")
    )
    if work.is_too_large:
        click.echo(f"that is more than {max_size or 'it may be'}: what is left still goes on", err=True)
        click.get_current_context().exit(1)
