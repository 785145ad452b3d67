"""The sinks that settings name."""

from __future__ import annotations

from otel_processor.alerts.settings import URLS, AlertSettings
from otel_processor.alerts.sink import Sink
from otel_processor.alerts.webhook import Webhook


def open_sinks(settings: AlertSettings, *, given_as: str = URLS) -> tuple[Sink, ...]:
    """Return the delivered sinks; nothing is sent yet.

    Args:
        settings: where alerts are delivered.
        given_as: what the URLs are called where they were given, for what is said of a wrong one.

    Raises:
        ConfigError: a URL cannot be used, or what it takes is not installed.
    """
    sinks: list[Sink] = []
    if settings.webhook is not None:
        sinks.append(Webhook(settings.webhook, settings.webhook_secret))
    if settings.urls:
        # Loading it takes a third of a second: only for who has such a URL.
        from otel_processor.alerts.apprise import AppriseSink

        sinks.extend(AppriseSink(url, position, given_as=given_as) for position, url in enumerate(settings.urls, 1))
    return tuple(sinks)
