"""Ingest: telemetry that comes from outside this process, as span records."""
