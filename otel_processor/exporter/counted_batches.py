"""The SDK's batch processor in front of our exporter, with an eye on what its queue drops."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING

from opentelemetry.sdk.trace.export import BatchSpanProcessor

from otel_processor.settings import BATCH_DELAY_MILLIS, QUEUE_SIZE_VARIABLE, QUEUE_SPANS

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from otel_processor.exporter.duckdb_span_exporter import DuckDBSpanExporter


class CountedBatches(BatchSpanProcessor):
    """Counts the spans that end, so that those that the queue had no room for are known to be lost."""

    def __init__(self, exporter: DuckDBSpanExporter) -> None:
        """Set up the processor; its queue is larger than the SDK's, unless `OTEL_BSP_MAX_QUEUE_SIZE` says otherwise."""
        size = None if os.environ.get(QUEUE_SIZE_VARIABLE) else QUEUE_SPANS
        super().__init__(exporter, max_queue_size=size, schedule_delay_millis=BATCH_DELAY_MILLIS)
        self._exporter = exporter
        self._counting = threading.Lock()
        self._ended = 0
        _all.add(self)

    def on_end(self, span: ReadableSpan) -> None:
        """Count the span and put it into the queue."""
        if span.context is not None and span.context.trace_flags.sampled:
            with self._counting:
                self._ended += 1
        super().on_end(span)

    def force_flush(self, timeout_millis: int | None = None) -> bool:
        """Export what waits; return False when that took too long, or when spans were lost since the last flush."""
        with self._counting:
            ended = self._ended
        done = super().force_flush(timeout_millis)
        return self._exporter.settle(ended) and done

    def begin(self) -> None:
        """Count from the start: the SDK empties the queue of a forked child."""
        self._counting = threading.Lock()
        self._ended = 0


_all: weakref.WeakSet[CountedBatches] = weakref.WeakSet()


def _begin_in_child() -> None:
    for batches in list(_all):
        batches.begin()


os.register_at_fork(after_in_child=_begin_in_child)
