"""A database for pages to read, and pages without a browser."""

from __future__ import annotations

import math
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import data, launch
from tests.dashboard import seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SEEDED_FOR_SECONDS = 20.0
"""The rows tell of the last minutes: older ones are made anew."""


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    """What one test has read must not answer the next."""
    st.cache_data.clear()
    data.forget()
    yield
    st.cache_data.clear()


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path that the pages read; there is no file yet."""
    path = tmp_path / "agents.duckdb"
    monkeypatch.setenv("OTEL_PROCESSOR_DB", str(path))
    return path


@pytest.fixture
def empty_db(db: Path) -> Path:
    """A database without rows."""
    seed.create(db)
    return db


@pytest.fixture(scope="session")
def fill(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Makes a database with one run of every kind: copying one takes a hundredth of the time of writing it."""
    written = tmp_path_factory.mktemp("seeded") / "agents.duckdb"
    written_at = -math.inf

    def copy(path: Path) -> None:
        nonlocal written_at
        if time.monotonic() - written_at > _SEEDED_FOR_SECONDS:
            written.unlink(missing_ok=True)
            seed.seed_all(written)
            written_at = time.monotonic()
        shutil.copy(written, path)

    return copy


@pytest.fixture
def seeded_db(db: Path, fill: Callable[[Path], None]) -> Path:
    """A database with one run of every kind."""
    fill(db)
    return db


def open_page(view: str, **parameters: str | list[str]) -> AppTest:
    """Open a page by its file, with parameters in its address."""
    page = AppTest.from_file(str(launch.APP), default_timeout=30).run()
    page.switch_page(view)
    for name, value in parameters.items():
        page.query_params[name] = value
    return page.run()


def overview(**parameters: str | list[str]) -> AppTest:
    """Open the overview."""
    return open_page("views/overview.py", **parameters)


def run_page(run_id: str | None, **parameters: str) -> AppTest:
    """Open the run page, with a run in its address or without."""
    return open_page("views/run.py", **({} if run_id is None else {"run": run_id}), **parameters)


def texts(page: AppTest) -> str:
    """Everything on a page that is written as text, badges and captions included."""
    parts = [str(element.value) for kind in (page.text, page.caption, page.info, page.warning, page.code) for element in kind]
    parts += [str(element.value) for kind in (page.title, page.subheader, page.markdown) for element in kind]
    return "\n".join(parts)


def parameter(page: AppTest, name: str) -> str:
    """One parameter of a page's address."""
    value = page.query_params[name]
    return str(value[0] if isinstance(value, list) else value)
