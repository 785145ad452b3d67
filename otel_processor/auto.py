"""Without code: what `opentelemetry-instrument` finds through entry points.

`OTEL_TRACES_EXPORTER=duckdb opentelemetry-instrument python agent.py` makes the SDK build the exporter by name; when
that is done, the post-instrument hook adds the span processor.
"""

from __future__ import annotations

import logging
import os

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from otel_processor.alerts.receivers import register
from otel_processor.alerts.settings import AlertSettings
from otel_processor.alerts.sinks import open_sinks
from otel_processor.errors import ConfigError
from otel_processor.exporter import DuckDBSpanExporter
from otel_processor.exporter.duckdb_span_exporter import living_exporters
from otel_processor.processor import LoopSpanProcessor
from otel_processor.settings import BATCH_DELAY_MILLIS, QUEUE_SIZE_VARIABLE, QUEUE_SPANS, load_settings

_log = logging.getLogger(__name__)

_DELAY = "OTEL_BSP_SCHEDULE_DELAY"


class DuckDBSpanExporterFromEnvironment(DuckDBSpanExporter):
    """The exporter that `OTEL_TRACES_EXPORTER=duckdb` names; its settings come from `OTEL_PROCESSOR_*`."""

    def __init__(self) -> None:
        """Set up the exporter, and give the SDK's processor that is built around it next a shorter delay and a longer queue."""
        super().__init__(alerts=_alerts())
        os.environ.setdefault(_DELAY, str(BATCH_DELAY_MILLIS))
        os.environ.setdefault(QUEUE_SIZE_VARIABLE, str(QUEUE_SPANS))


def _alerts() -> AlertSettings:
    """Return who is told of alerts. Here nobody can catch an error, and a wrong address must not cost the spans."""
    try:
        settings = AlertSettings.from_environment()
        open_sinks(settings)
    except ConfigError as error:
        _log.error("%s; until then no message about an alert is sent from this process", error)
        return AlertSettings()
    return settings


def add_loop_processor() -> None:
    """Add the span processor to the global provider, if our exporter or a mode was asked for."""
    exporter = next((e for e in living_exporters() if isinstance(e, DuckDBSpanExporterFromEnvironment)), None)
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        return
    if exporter is not None:
        register(exporter.tell)
        provider.add_span_processor(
            LoopSpanProcessor(on_alert=exporter.tell, on_reading=exporter.remember, earlier=exporter.earlier)
        )
    elif load_settings().mode is not None:
        provider.add_span_processor(LoopSpanProcessor())
