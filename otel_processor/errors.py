"""What can be wrong from a user's point of view; the message is one line and names the remedy."""


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
