"""The live path: a span processor that tells loops while they happen."""

from otel_processor.processor.loop_span_processor import LoopSpanProcessor
from otel_processor.processor.span_guard import current_guard

__all__ = ["LoopSpanProcessor", "current_guard"]
