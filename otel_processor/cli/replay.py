"""`otel-processor replay`: calls, runs and alerts made anew from the stored spans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from otel_processor.cli.options import db_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_processor.recording.replaying import Reasons, Replayed

READ_SECONDS = 10.0
WRITE_SECONDS = 60.0


@click.command()
@db_option
@click.option(
    "--policy",
    "policy_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A TOML file with the policy to judge by; that of OTEL_PROCESSOR_POLICY, or the defaults, when left out.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
def replay(db: Path, policy_path: Path | None, dry_run: bool) -> None:
    """Make calls, runs and alerts anew from the stored spans.

    For another policy, or after an upgrade. Some runs at a time: readers see each run as it was or as it is now, agents go on
    writing, and a replay that was interrupted is completed by the next one. Agents that are running judge their runs by their
    own policy.
    What was told stays told: an alert that would not be told under this policy is kept and marked as resolved, and no alert
    is told twice. Calls whose content was cut before it was stored keep the signature that they had.
    """
    from otel_processor.cli.progress import Progress
    from otel_processor.errors import StoreError
    from otel_processor.policy_file import load_policy, policy_of
    from otel_processor.recording.recorder import Recorder
    from otel_processor.recording.replaying import Replay
    from otel_processor.store.opening import open_read_only
    from otel_processor.store.upgrading import is_older, why_unlike

    policy = load_policy(policy_path) if policy_path is not None else policy_of(None)
    with open_read_only(db, timeout_seconds=READ_SECONDS) as connection:
        if (unlike := why_unlike(connection)) is not None and not is_older(connection):
            raise StoreError(f"{db}: {unlike}")
        spans = int(connection.execute("select count(*) from spans").fetchall()[0][0])
    if not dry_run:
        recorder = Recorder(db, policy)
        recorder.fold_spool(timeout_seconds=WRITE_SECONDS)
        recorder.close()
    work = Replay(db, policy, dry_run=dry_run)
    progress = Progress("replay", spans)
    try:
        for done in work.run(timeout_seconds=WRITE_SECONDS):
            progress.show(done)
    finally:
        progress.end()
    for line in _told(work.outcome, policy.hash, dry_run):
        click.echo(line)
    if work.outcome.left:
        click.echo(f"{work.outcome.left:,} traces could not be judged, for a bug of ours, and are as they were", err=True)
        click.get_current_context().exit(1)


def _told(outcome: Replayed, policy_hash: str, dry_run: bool) -> Iterator[str]:
    new = outcome.alerts_after - outcome.alerts_before
    yield (
        f"{'would make' if dry_run else 'made'} {outcome.runs:,} runs and {outcome.calls:,} calls of {outcome.spans:,} spans "
        f"anew by the policy {policy_hash}"
    )
    yield f"alerts: {outcome.alerts_before:,} before, {new:,} new, {outcome.resolved:,} open ones resolved"
    for pattern in sorted(outcome.new_by_pattern.keys() | outcome.resolved_by_pattern.keys()):
        yield f"{pattern:>16}  {outcome.new_by_pattern[pattern]:,} new, {outcome.resolved_by_pattern[pattern]:,} resolved"
    if not outcome.changes:
        yield "no run ended otherwise, none was flagged otherwise"
        return
    yield "runs that ended or were flagged otherwise:"
    changes = sorted(outcome.changes.items(), key=lambda change: (-change[1], str(change[0])))
    width = max(len(_reasons(before)) for (before, _), _ in changes)
    for (before, after), number in changes:
        yield f"{number:>8,}  {_reasons(before):<{width}}  ->  {_reasons(after)}"


def _reasons(reasons: Reasons | None) -> str:
    if reasons is None:
        return "no such run"
    stop_reason, flagged_reason = reasons
    return stop_reason if flagged_reason is None else f"{stop_reason}, flagged {flagged_reason}"
