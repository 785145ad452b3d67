"""The service: OTLP from other processes, acknowledged when it is stored."""
