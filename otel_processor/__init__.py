"""See AI agents loop while it happens: a span processor, a DuckDB store and a dashboard for OpenTelemetry.

The names below are loaded when they are first used, so that importing the package costs an agent nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otel_processor.errors import ConfigError, OtelProcessorError, StoreBusyError, StoreError
    from otel_processor.exporter import DuckDBSpanExporter
    from otel_processor.instrumentation import Instrumentation, instrument
    from otel_processor.model import Alert, Verdict
    from otel_processor.policy import Policy
    from otel_processor.processor import LoopSpanProcessor
    from otel_processor.store.opening import connect

__all__ = [
    "Alert",
    "ConfigError",
    "DuckDBSpanExporter",
    "Instrumentation",
    "LoopSpanProcessor",
    "OtelProcessorError",
    "Policy",
    "StoreBusyError",
    "StoreError",
    "Verdict",
    "connect",
    "instrument",
]

_HOMES = {
    "Alert": "model",
    "ConfigError": "errors",
    "DuckDBSpanExporter": "exporter",
    "Instrumentation": "instrumentation",
    "LoopSpanProcessor": "processor",
    "OtelProcessorError": "errors",
    "Policy": "policy",
    "StoreBusyError": "errors",
    "StoreError": "errors",
    "Verdict": "model",
    "connect": "store.opening",
    "instrument": "instrumentation",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
