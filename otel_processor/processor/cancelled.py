"""An agent that is cancelled, as the processor sees it: the SDK records an `Exception` that leaves a span, and nothing else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from otel_processor.dialects import names
from otel_processor.processor.sdk_span import write_event

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


def handled_now() -> int:
    """Return which exception is being handled around this code, as a number; 0: none."""
    error = sys.exc_info()[1]
    return 0 if error is None else id(error)


def record_cancellation(span: ReadableSpan, handled_before: int) -> bool:
    """Record what is leaving the span just now as an event, as the SDK does with errors; return whether there is something.

    That is an `asyncio.CancelledError`, a `KeyboardInterrupt`, a `GeneratorExit` where nobody reads a stream on.

    Args:
        span: that is ending, on the thread that ends it.
        handled_before: what was being handled when it began, and is no matter of this span.
    """
    error = sys.exc_info()[1]
    if error is None or isinstance(error, Exception | SystemExit) or id(error) == handled_before:
        return False
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    told = {names.EXCEPTION_TYPE: name, names.EXCEPTION_MESSAGE: str(error)}
    write_event(span, names.EXCEPTION_EVENT, told, span.end_time or 0)
    return True
