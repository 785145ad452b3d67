"""`otel-processor alert --test`: does a message get through?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from otel_processor.cli.group import UsageFailure

if TYPE_CHECKING:
    from otel_processor.alerts.settings import AlertSettings


@click.command()
@click.option("--test", "test", is_flag=True, help="Send one test message through every sink.")
@click.option("--url", "urls", multiple=True, metavar="URL", help="Try this apprise URL instead; may be given again.")
@click.option(
    "--webhook", metavar="URL", help="Try this webhook instead; signed where OTEL_PROCESSOR_ALERT_WEBHOOK_SECRET is set."
)
@click.pass_context
def alert(context: click.Context, test: bool, urls: tuple[str, ...], webhook: str | None) -> None:
    """Send a test message to whoever is told of alerts.

    Those are the sinks that OTEL_PROCESSOR_ALERT_URLS and OTEL_PROCESSOR_ALERT_WEBHOOK name.
    Agents send alerts by themselves; this only tells whether they would arrive. Exit codes: 0 all were sent, 1 one was
    not, 2 there is none, or one cannot be used.
    """
    import time
    import uuid

    from otel_processor.alerts.notice import Kind, Notice
    from otel_processor.alerts.settings import REMEDY
    from otel_processor.alerts.sinks import open_sinks

    if not test:
        raise UsageFailure("say what to do: otel-processor alert --test sends one message through every sink")
    settings = _settings(urls, webhook)
    if not settings.has_sinks:
        raise UsageFailure(f"no sink is configured: {REMEDY}")
    notice = Notice(
        kind=Kind.TEST,
        notice_id=uuid.uuid4().hex,
        at_ns=time.time_ns(),
        message="Alerts about agents that go in circles would arrive here.",
        link=settings.dashboard_url,
    )
    failed = False
    for sink in open_sinks(settings, given_as="--url") if urls else open_sinks(settings):
        outcome = sink.send(notice)
        failed = failed or not outcome.sent
        click.echo(f"sent      {sink.name}" if outcome.sent else f"not sent  {sink.name}: {outcome.error}")
    if failed:
        context.exit(1)


def _settings(urls: tuple[str, ...], webhook: str | None) -> AlertSettings:
    import os

    from otel_processor.alerts.settings import SECRET, AlertSettings

    if not urls and webhook is None:
        return AlertSettings.from_environment()
    secret = os.environ.get(SECRET, "").strip() if webhook is not None else ""
    return AlertSettings(urls=urls, webhook=webhook, webhook_secret=secret or None)
