"""The live path: a span processor that tells loops while they happen."""

from otel_processor.processor.loop_span_processor import LoopSpanProcessor

__all__ = ["LoopSpanProcessor"]
