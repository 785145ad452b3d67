"""Finished spans of this process into the store."""

from otel_processor.exporter.duckdb_span_exporter import DuckDBSpanExporter

__all__ = ["DuckDBSpanExporter"]
