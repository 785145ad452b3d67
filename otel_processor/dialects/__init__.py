"""Dialects: what a span says, whatever names its writer used."""

from otel_processor.dialects.reader import read_span

__all__ = ["read_span"]
