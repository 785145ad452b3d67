"""`otel-processor doctor`: is everything wired, and if not, what to do."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from otel_processor.cli.options import db_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@db_option
@click.option("--json", "as_json", is_flag=True, help="Write the checks as JSON, for scripts.")
@click.pass_context
def doctor(context: click.Context, db: Path, as_json: bool) -> None:
    """Check installation, database and writers.

    Each problem comes with a remedy; the exit code is 1 when there is one.
    """
    from otel_processor.cli.alert_checks import look_at_sinks
    from otel_processor.cli.checks import State, as_text
    from otel_processor.cli.database_checks import look_at_database
    from otel_processor.cli.installation import look_at_installation
    from otel_processor.cli.settings_checks import look_at_settings

    checks = [*look_at_installation(db), *look_at_settings(), *look_at_sinks(), *look_at_database(db)]
    sound = all(check.state is not State.PROBLEM for check in checks)
    if as_json:
        click.echo(json.dumps({"ok": sound, "checks": [asdict(check) for check in checks]}, indent=2, ensure_ascii=False))
    else:
        click.echo(as_text(checks))
    if not sound:
        context.exit(1)
