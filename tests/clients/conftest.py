"""The database file and the tracer provider of the other tests."""

import pytest

from tests.integration.conftest import db, provider, temp_folder

__all__ = ["db", "provider", "temp_folder"]

pytest.register_assert_rewrite("tests.clients.told")
