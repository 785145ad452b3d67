"""The database file and the tracer provider of the other tests."""

from tests.integration.conftest import db, provider, temp_folder

__all__ = ["db", "provider", "temp_folder"]
