"""See AI agents loop while it happens: a span processor, a DuckDB store and a dashboard for OpenTelemetry.

The names below are loaded when they are first used, so that importing the package costs an agent nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otel_processor.alerts.settings import AlertSettings
    from otel_processor.errors import ConfigError, LoopDetected, LoopNudge, OtelProcessorError, StoreBusyError, StoreError
    from otel_processor.exporter import DuckDBSpanExporter
    from otel_processor.guard import LoopGuard
    from otel_processor.instrumentation import Instrumentation, instrument
    from otel_processor.model import Action, Alert, Mode, StopReason, Verdict
    from otel_processor.policy import Policy
    from otel_processor.processor import LoopSpanProcessor, current_guard
    from otel_processor.store.opening import connect

__all__ = [
    "Action",
    "Alert",
    "AlertSettings",
    "ConfigError",
    "DuckDBSpanExporter",
    "Instrumentation",
    "LoopDetected",
    "LoopGuard",
    "LoopNudge",
    "LoopSpanProcessor",
    "Mode",
    "OtelProcessorError",
    "Policy",
    "StopReason",
    "StoreBusyError",
    "StoreError",
    "Verdict",
    "connect",
    "current_guard",
    "instrument",
]

_HOMES = {
    "Action": "model",
    "Alert": "model",
    "AlertSettings": "alerts.settings",
    "ConfigError": "errors",
    "DuckDBSpanExporter": "exporter",
    "Instrumentation": "instrumentation",
    "LoopDetected": "errors",
    "LoopGuard": "guard",
    "LoopNudge": "errors",
    "LoopSpanProcessor": "processor",
    "Mode": "model",
    "OtelProcessorError": "errors",
    "Policy": "policy",
    "StopReason": "model",
    "StoreBusyError": "errors",
    "StoreError": "errors",
    "Verdict": "model",
    "connect": "store.opening",
    "current_guard": "processor",
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
