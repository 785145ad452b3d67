"""The part of `doctor` that looks at alerts: who is told, and which messages wait or were given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.cli.checks import Check, ok, problem, warning
from otel_processor.errors import ConfigError
from otel_processor.store.scripts import query

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

_SINKS = 20
_STATES = ("waiting", "retrying", "sent", "suppressed", "held_back", "gave_up")


def look_at_sinks() -> Iterator[Check]:
    """Check the sinks that the environment names; nothing is sent."""
    from otel_processor.alerts.settings import REMEDY, AlertSettings
    from otel_processor.alerts.sinks import open_sinks

    try:
        settings = AlertSettings.from_environment()
        sinks = open_sinks(settings)
    except ConfigError as error:
        yield problem("alerts", str(error), "correct it; instrument() refuses it, and without code no message is sent")
        return
    if not sinks:
        yield ok("alerts", f"told in the log, as metrics and in the database only; to be sent a message: {REMEDY}")
        return
    names = ", ".join(sink.name for sink in sinks)
    yield ok("alerts", f"from {settings.min_severity} on to {names}; try them: otel-processor alert --test")
    if settings.webhook is not None and settings.webhook_secret is None:
        yield warning(
            "alerts", "messages to the webhook are not signed", "set OTEL_PROCESSOR_ALERT_WEBHOOK_SECRET, and check it there"
        )


def look_at_deliveries(connection: duckdb.DuckDBPyConnection) -> Iterator[Check]:
    """Check what became of messages, sink by sink."""
    tables = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
    if "deliveries" not in tables:
        return
    cursor = connection.execute(query("delivery_summary"), {"limit": _SINKS})
    names = [column[0] for column in cursor.description or ()]
    for values in cursor.fetchall():
        row = dict(zip(names, values, strict=True))
        told = ", ".join(f"{row[state]:,} {state.replace('_', ' ')}" for state in _STATES if row[state] or state == "sent")
        detail = f"{row['sink']}: {told}"
        if row["gave_up"] or row["retrying"]:
            yield warning(
                "deliveries",
                f"{detail}; last error: {row['last_error'] or 'none'}",
                "see whether it gets through: otel-processor alert --test",
            )
        else:
            yield ok("deliveries", detail)
