"""What can be wrong from a user's point of view; the message is one line and names the remedy."""

from __future__ import annotations

from typing import Protocol


class HeldAgainst(Protocol):
    """The part of a guard's answer that an exception carries."""

    @property
    def action(self) -> str:
        """`nudge` or `stop`."""

    @property
    def stop_reason(self) -> str | None:
        """Why the run is stopped, or would be."""

    @property
    def message(self) -> str:
        """A text for the model."""


class OtelProcessorError(Exception):
    """Base of every error that this package raises on purpose."""


class LoopDetected(OtelProcessorError):  # noqa: N818 - a name that users know
    """A run goes in circles, and the guard enforces: the call was not made.

    Attributes:
        verdict: the guard's answer, with pattern, action, message and evidence.
        stop_reason: why the run is stopped.
    """

    def __init__(self, verdict: HeldAgainst) -> None:
        self.verdict = verdict
        self.stop_reason = verdict.stop_reason
        super().__init__(f"{verdict.stop_reason or 'loop_detected'}: {verdict.message}")

    def __reduce__(self) -> tuple[type[LoopDetected], tuple[HeldAgainst]]:
        return type(self), (self.verdict,)


class LoopNudge(LoopDetected):
    """A call was refused, and the run may go on: hand the text to the model in place of the call's result."""


class ConfigError(OtelProcessorError, ValueError):
    """A setting cannot be used as it is."""


class StoreError(OtelProcessorError):
    """The database cannot be used."""


class StoreBusyError(StoreError):
    """Another process holds the database file for longer than we were willing to wait."""


class StoreUnavailableError(StoreError):
    """The database file cannot be opened or written at all: missing folder, no rights, disk full."""


class StoreFullError(StoreUnavailableError):
    """There is no space to write to."""


class StoreMemoryError(StoreUnavailableError):
    """DuckDB has too little memory for what it was given at once."""


class NoDatabaseError(StoreError):
    """There is no file where a database was said to be."""


class SchemaVersionError(StoreError):
    """The database was written by a version of this package that this one does not understand."""


class SealedError(StoreError):
    """The database is a copy to be shared, which nobody writes to."""


class QueryError(OtelProcessorError):
    """A user's SQL was refused or failed."""


class QueryStoppedError(QueryError):
    """A user's SQL ran for longer than it may, or was cancelled."""


class TelemetryFormatError(OtelProcessorError):
    """A file or request does not hold OTLP trace data."""
