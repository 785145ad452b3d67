"""A database file and a tracer provider for each test."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace import TracerProvider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def temp_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temp directory of the test's own, where writers leave word of what is wrong."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def db(tmp_path: Path, temp_folder: Path) -> Path:
    """Where the test's database will be."""
    return tmp_path / "agents.duckdb"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[TracerProvider]:
    """A tracer provider of the test's own, unmoved by the caller's settings."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    made = TracerProvider(shutdown_on_exit=False)
    yield made
    made.shutdown()
