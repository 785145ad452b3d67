"""What can be wrong from a user's point of view; the message is one line and names the remedy."""

from __future__ import annotations

from typing import Any, Protocol


class _Verdict(Protocol):
    @property
    def stop_reason(self) -> str | None: ...

    @property
    def message(self) -> str: ...


class OtelProcessorError(Exception):
    """Base of every error that this package raises on purpose."""


class ConfigError(OtelProcessorError, ValueError):
    """A setting cannot be used as it is."""


class StoreError(OtelProcessorError):
    """The database cannot be used."""


class StoreBusyError(StoreError):
    """Another process holds the database file for longer than we were willing to wait."""


class StoreUnavailableError(StoreError):
    """The database file cannot be opened or written at all: missing folder, no rights, disk full."""


class SchemaVersionError(StoreError):
    """The database was written by a version of this package that this one does not understand."""


class QueryError(OtelProcessorError):
    """A user's SQL was refused or failed."""


class TelemetryFormatError(OtelProcessorError):
    """A file or request does not hold OTLP trace data."""


class LoopDetected(OtelProcessorError):  # noqa: N818 - the name says what happened, as KeyboardInterrupt does
    """A run was stopped: it goes in circles, or is at a limit."""

    def __init__(self, verdict: _Verdict) -> None:
        """Say why, in a form that is found again in the exception events of spans: `<stop_reason>: <message>`.

        Args:
            verdict: the verdict that said stop.
        """
        self.verdict = verdict
        self.stop_reason = str(verdict.stop_reason or "unknown")
        super().__init__(f"{self.stop_reason}: {verdict.message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.verdict,)
