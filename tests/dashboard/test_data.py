"""Whatever state a database is in, asking it gives an answer and never raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest
import streamlit as st

from dashboard import data
from dashboard.data import State
from dashboard.filters import Filters
from dashboard.questions.alerts import recent_alerts
from dashboard.questions.overview import run_totals
from dashboard.questions.runs import recent_runs
from otel_processor.store.database import Database
from tests.dashboard import seed

if TYPE_CHECKING:
    from pathlib import Path


def test_a_missing_database_is_missing(db: Path) -> None:
    assert recent_alerts().state is State.MISSING


def test_a_held_database_is_busy_and_names_the_holder(seeded_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_WAIT_FOR_ALERTS_SECONDS", 0.01)
    with Database(seeded_db).write(timeout_seconds=10):
        answer = recent_alerts()
    assert answer.state is State.BUSY
    assert not answer.is_usable
    assert "is held by" in answer.problem


def test_while_it_is_busy_the_last_answer_stands(seeded_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_WAIT_FOR_ALERTS_SECONDS", 0.01)
    before = recent_alerts()
    st.cache_data.clear()
    with Database(seeded_db).write(timeout_seconds=10):
        answer = recent_alerts()
    assert answer.state is State.BUSY
    assert answer.is_usable
    assert answer.frame.equals(before.frame)
    assert answer.read_at == before.read_at


def test_nobody_is_kept_from_writing_after_an_answer(seeded_db: Path) -> None:
    recent_alerts()
    with Database(seeded_db).write(timeout_seconds=0.1) as connection:
        seed.add_alert(connection, seed.HEALTHY, 0)
    st.cache_data.clear()
    assert len(recent_alerts().frame) == 4


def test_a_question_that_took_long_is_not_asked_again_at_once(seeded_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_SLOW_SECONDS", 0.0)
    monkeypatch.setattr(data, "_REST_AFTER_SLOW", 10_000)
    before = run_totals(Filters())
    with Database(seeded_db).write(timeout_seconds=10) as connection:
        seed.add_run(connection, "7" * 32, [])
    st.cache_data.clear()
    assert run_totals(Filters()).read_at == before.read_at


def test_text_of_others_is_inert_and_ids_are_kept(seeded_db: Path) -> None:
    frame = recent_runs(Filters()).frame
    task = frame.loc[frame["run_id"] == seed.HOSTILE, "task"].iloc[0]
    assert "\x1b" not in task
    assert "\u202e" not in task
    assert "[U+202E]" in task


def test_the_path_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_PROCESSOR_DB", "elsewhere.duckdb")
    assert data.database_path() == "elsewhere.duckdb"
    monkeypatch.setenv("OTEL_PROCESSOR_DB", "")
    assert data.database_path() == "agents.duckdb"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("alter table meta rename to sundry", "otel-processor did not make it; give another path with --db"),
        ("update meta set schema_major = 9", "its schema is 9."),
        ("update meta set schema_minor = 0", "the next write of this version brings it up to date"),
    ],
)
def test_a_database_that_lacks_what_is_asked_for_says_why(seeded_db: Path, change: str, said: str) -> None:
    with duckdb.connect(str(seeded_db)) as connection:
        connection.execute("drop view runs")
        connection.execute(change)
    answer = run_totals(Filters())
    assert answer.state is State.UNREADABLE
    assert said in answer.problem


def test_a_database_of_this_version_that_lacks_something_says_what(seeded_db: Path) -> None:
    with duckdb.connect(str(seeded_db)) as connection:
        connection.execute("drop view runs")
    answer = run_totals(Filters())
    assert answer.state is State.UNREADABLE
    assert "runs does not exist" in answer.problem
