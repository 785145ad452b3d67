"""A database for pages to read, and pages without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import data, launch
from tests.dashboard import seed

if TYPE_CHECKING:
    from collections.abc import Iterator


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


@pytest.fixture
def seeded_db(db: Path) -> Path:
    """A database with one run of every kind."""
    seed.seed_all(db)
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
