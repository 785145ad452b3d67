"""Why a guarded run ended, written where OpenTelemetry takes it along: on the current span and on the root of its trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otel_processor.bug_reports import report_bug
from otel_processor.dialects.names import LOOP_STOP_REASON_DECLARED
from otel_processor.model import StopReason

find_roots: list[Callable[[Any], Any]] = []
"""Functions from a span to the open root above it in this process; a span processor adds the one that knows."""


def declare_stop_reason(reason: StopReason) -> None:
    """Write the reason on the current span and on its root, where they are recorded."""
    try:
        from opentelemetry import trace

        current = trace.get_current_span()
        if not current.is_recording():
            return
        current.set_attribute(LOOP_STOP_REASON_DECLARED, str(reason))
        for find_root in find_roots:
            root = find_root(current)
            if root is not None and root is not current and root.is_recording():
                root.set_attribute(LOOP_STOP_REASON_DECLARED, str(reason))
    except Exception:  # noqa: BLE001 - nothing of ours reaches the agent
        report_bug("declaring a stop reason")


def current_trace_id() -> str | None:
    """Return the trace id of the current span in lower-case hex, or None where there is none."""
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None
